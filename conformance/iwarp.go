package conformance

import (
	"fmt"
	"net"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/test/rdmacm"
)

// manager is librdmacm for one side of a connection.
type manager struct {
	t       *T
	channel *rdmacm.EventChannel
}

func (t *T) manager() *manager {
	m := &manager{t: t}
	var err error
	m.channel, err = rdmacm.CreateEventChannel()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rdmacm.DestroyEventChannel(m.channel)) })
	return m
}

// newID is an identifier whose events come to the manager's channel.
func (m *manager) newID() (id *rdmacm.CmID) {
	require.NoError(m.t, rdmacm.CreateID(m.channel, &id, 0, rdmacm.PSTCP))
	m.t.Cleanup(func() { require.NoError(m.t, rdmacm.DestroyID(id)) })
	return id
}

// await takes the next event, which must be of a type.
func (m *manager) await(want rdmacm.CmEventType) (id *rdmacm.CmID) {
	var event *rdmacm.CmEvent
	require.NoError(m.t, rdmacm.GetCmEvent(m.channel, &event))
	got, status := event.Event, event.Status
	id = event.ID
	require.NoError(m.t, rdmacm.AckCmEvent(event))
	require.Equal(m.t, want, got, "status %d", status)
	return id
}

// connectIWARP connects two queue pairs by their numbers.
func (t *T) connectIWARP(a, b *End) {
	active, passive := t.manager(), t.manager()
	listener := passive.newID()
	// On musl, librdmacm takes an address that was asked for with RAI_PASSIVE for the other side's all the same: it goes
	// by what getaddrinfo repeats of its flags, and musl's repeats none.
	require.NoError(t, rdmacm.BindAddr(listener, t.lookup(0).AiDstAddr))
	require.NoError(t, rdmacm.Listen(listener, 1))
	port, err := rdmacm.GetSrcPort(listener)
	require.NoError(t, err)

	const patience = 10_000 // ms
	id := active.newID()
	require.NoError(t, rdmacm.ResolveAddr(id, nil, t.lookup(port.Host()).AiDstAddr, patience))
	active.await(rdmacm.CmEventAddrResolved)
	require.NoError(t, rdmacm.ResolveRoute(id, patience))
	active.await(rdmacm.CmEventRouteResolved)
	require.Equal(t, t.name, id.Verbs.Device.String(), "librdmacm connects on the first device that has the address")
	param := func(e *End) *rdmacm.ConnParam {
		return &rdmacm.ConnParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 7, RNRRetryCount: 7, QPNum: e.Number()}
	}
	require.NoError(t, rdmacm.Connect(id, param(a)))
	request := passive.await(rdmacm.CmEventConnectRequest)
	t.Cleanup(func() { require.NoError(t, rdmacm.DestroyID(request)) })
	require.NoError(t, rdmacm.Accept(request, param(b)))
	active.await(rdmacm.CmEventEstablished)
	passive.await(rdmacm.CmEventEstablished)
}

// lookup resolves the device's address and a port.
func (t *T) lookup(port uint16) *rdmacm.Addrinfo {
	node, err := clib.String(t.address())
	require.NoError(t, err)
	service, err := clib.String(strconv.Itoa(int(port)))
	require.NoError(t, err)
	hints := rdmacm.Addrinfo{AiPortSpace: int32(rdmacm.PSTCP)}
	var found *rdmacm.Addrinfo
	_, err = rdmacm.Getaddrinfo(node, service, &hints, &found)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rdmacm.Freeaddrinfo(found)) })
	return found
}

// address is the IP address of the device's network interface. An iWARP device's GID
// begins with that one's hardware address.
func (t *T) address() string {
	gid := t.GID().GID
	nics, err := net.Interfaces()
	require.NoError(t, err)
	for _, nic := range nics {
		if len(nic.HardwareAddr) != 6 || string(nic.HardwareAddr) != string(gid.Raw()[:6]) {
			continue
		}
		addrs, err := nic.Addrs()
		require.NoError(t, err)
		for _, addr := range addrs {
			if ip, _, err := net.ParseCIDR(addr.String()); err == nil && ip.To4() != nil {
				return ip.String()
			}
		}
	}
	t.Errorf("%s", fmt.Sprintf("no network interface with an IPv4 address has the hardware address at the start of the GID %v", gid))
	t.FailNow()
	return ""
}
