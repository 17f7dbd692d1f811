//go:build linux

package ibv_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
)

// requirePort requires what testdata/provider.c says of its port 2.
func requirePort(t *testing.T, attr ibv.PortAttr) {
	t.Helper()
	require.Equal(t, ibv.PortActive, attr.State)
	require.Equal(t, ibv.MTU4096, attr.MaxMTU)
	require.Equal(t, ibv.MTU1024, attr.ActiveMTU)
	require.EqualValues(t, 0x11121314, attr.GIDTblLen)
	require.EqualValues(t, 0x21222324, attr.MaxMsgSz)
	require.EqualValues(t, 0x3132, attr.PKeyTblLen)
	require.EqualValues(t, 0x4142, attr.LID)
	require.EqualValues(t, ibv.LinkLayerEthernet, attr.LinkLayer)
	require.EqualValues(t, 0x51, attr.ActiveSpeed)
	require.EqualValues(t, 0x61, attr.PhysState)
}

// An extended context that reaches as far as the operation is asked through it,
// with the size of the struct.
func TestQueryPort(t *testing.T) {
	p := newProvider(t, wholeContext)
	t.Run("refused", func(t *testing.T) {
		for _, tt := range []struct {
			result int32
			errno  syscall.Errno
			want   syscall.Errno
		}{
			{int32(syscall.EINVAL), 0, syscall.EINVAL},
			{-int32(syscall.EINVAL), syscall.EIO, syscall.EINVAL},
			{-1, syscall.ENOMEM, syscall.ENOMEM},
			{-1, 0, syscall.EIO},
		} {
			p.Play(script{Result: tt.result, Errno: tt.errno})
			_, err := p.Context.QueryPort(7)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, "query port 7 on scripted0")
			if tt.want == syscall.EIO { // which nobody has said
				require.ErrorContains(t, err, "C gave no reason")
				require.NotContains(t, err.Error(), "device is gone")
			}
		}
	})
	p.Play(script{})
	attr, err := p.Context.QueryPort(2)
	require.NoError(t, err)
	requirePort(t, attr)
	require.EqualValues(t, 0x7172, attr.PortCapFlags2)
	require.Equal(t, 1, p.Saw(calls))
	require.Equal(t, 2, p.Saw(port))
	require.EqualValues(t, unsafe.Sizeof(attr), p.Saw(attrLength))
	require.GreaterOrEqual(t, p.Saw(attrLength), int(p.Call("provider_port_attr_size")), "Go may know more of the struct than the header, but not less")
}

// A library that is older than the operation has other things where it would
// be, or no memory. Its symbol of that name fills less of the struct.
func TestQueryPortOfOldLibrary(t *testing.T) {
	library := inOldLibrary(t)
	if library == nil {
		return
	}
	contexts := map[string]*provider{
		"not extended":      providerOf(t, library, plainContext),
		"without operation": providerOf(t, library, wholeContext),
	}
	contexts["without operation"].Call("provider_no_query_port")
	for name, symbol := range map[string]string{"ends before": "provider_short_size", "nothing but a context": "provider_smallest_size"} {
		size := contexts["not extended"].Call(symbol)
		contexts[name] = providerOf(t, library, int(size))
	}
	for name, p := range contexts {
		t.Run(name, func(t *testing.T) {
			p.Play(script{})
			attr, err := p.Context.QueryPort(2)
			require.NoError(t, err)
			requirePort(t, attr)
			require.Zero(t, attr.PortCapFlags2, "not known to the library")
			require.Equal(t, 1, p.Saw(calls))
			require.Equal(t, 2, p.Saw(port))

			p.Play(script{Result: int32(syscall.EINVAL)})
			_, err = p.Context.QueryPort(9)
			require.ErrorIs(t, err, syscall.EINVAL)
		})
	}
}

// A program can ask whether there is a library, and a user reads how to get it.
func TestNoLibrary(t *testing.T) {
	const role = "IBV_TEST_WITHOUT_LIBRARY"
	says := map[string][]string{
		"/nowhere/libibverbs.so.1": {"load /nowhere/libibverbs.so.1: dlopen: ", "apt install libibverbs1 ibverbs-providers"},
		"libm.so.6":                {"what was loaded is another library, see GOVERBS_LIBIBVERBS", "libm.so.6"},
	}
	name := os.Getenv(role)
	if name == "" {
		for name := range says {
			again(t, "^"+t.Name()+"$", role+"="+name, "GOVERBS_LIBIBVERBS="+name)
		}
		return
	}
	_, devices := ibv.Devices()
	_, open := ibv.Open("rxe0")
	for _, err := range []error{devices, open} {
		require.ErrorIs(t, err, ibv.ErrNoLibrary)
		require.ErrorContains(t, err, "ibv: list RDMA devices: there is no such library to load: ")
		for _, text := range says[name] {
			require.ErrorContains(t, err, text)
		}
	}
}

// What an old library lacks is an error that says so.
func TestMissingFunctions(t *testing.T) {
	library := inOldLibrary(t)
	if library == nil {
		return
	}
	p := providerOf(t, library, wholeContext)
	_, err := p.Context.QueryGIDEntry(1, 3)
	requireNotSupported(t, err, "query entry 3 of the GIDs of port 1 on scripted0", "_ibv_query_gid_ex", library)
	_, err = p.Context.QueryGID(1, 3)
	requireNotSupported(t, err, "query GID 3 of port 1 on scripted0", "ibv_query_gid", library)
	_, err = p.Context.AllocPD()
	requireNotSupported(t, err, "allocate protection domain on scripted0", "ibv_alloc_pd", library)
	_, err = p.Context.CreateCQ(1)
	requireNotSupported(t, err, "create completion queue on scripted0", "ibv_create_cq", library)
	err = p.QP.Modify(&ibv.QPAttr{QPState: ibv.QPSErr}, ibv.QPAttrMaskState)
	requireNotSupported(t, err, "move queue pair 0x11 (QPType(0), in IBV_QPS_RESET) to IBV_QPS_ERR (IBV_QP_STATE) on scripted0", "ibv_modify_qp", library)
}

func requireNotSupported(t *testing.T, err error, op, symbol string, library *dl.Library) {
	t.Helper()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.NotErrorIs(t, err, ibv.ErrNoLibrary)
	require.ErrorContains(t, err, op)
	require.ErrorContains(t, err, symbol)
	require.ErrorContains(t, err, library.Name())
}

func TestOpenInOldLibrary(t *testing.T) {
	library := inOldLibrary(t)
	if library == nil {
		return
	}
	p := providerOf(t, library, wholeContext)
	devices := func(n int) {
		dl.Call(p.Symbol("library_devices"), uintptr(n))
	}
	requireNothingOut := func(t *testing.T) {
		out, _ := dl.Call(p.Symbol("library_out"))
		require.Zero(t, int32(out), "lists and devices must be given back")
	}

	t.Run("no RDMA in the kernel", func(t *testing.T) {
		devices(-int(syscall.ENOSYS))
		_, err := ibv.Devices()
		require.ErrorIs(t, err, syscall.ENOSYS)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "ib_uverbs")
		_, err = ibv.Open("")
		require.ErrorIs(t, err, syscall.ENOSYS)
	})
	t.Run("no permission", func(t *testing.T) {
		devices(-int(syscall.EACCES))
		_, err := ibv.Devices()
		require.ErrorIs(t, err, syscall.EACCES)
		require.ErrorContains(t, err, "list RDMA devices")
		require.ErrorContains(t, err, "/dev/infiniband/uverbs")
	})
	t.Run("no device", func(t *testing.T) {
		devices(0)
		list, err := ibv.Devices()
		require.NoError(t, err)
		require.Empty(t, list.All())
		require.NoError(t, list.Close())
		for _, name := range []string{"", "rxe0"} {
			_, err := ibv.Open(name)
			require.ErrorIs(t, err, syscall.ENODEV)
			require.ErrorContains(t, err, "rdma link add")
			require.ErrorContains(t, err, name)
		}
		requireNothingOut(t)
	})
	t.Run("only somebody else's", func(t *testing.T) {
		devices(1)
		_, err := ibv.Open("")
		require.ErrorIs(t, err, syscall.EACCES)
		require.ErrorContains(t, err, "open RDMA device \"scripted0\": permission denied")
		_, err = ibv.Open("scripted0")
		require.ErrorIs(t, err, syscall.EACCES)
		requireNothingOut(t)
	})
	t.Run("two", func(t *testing.T) {
		devices(2)
		list, err := ibv.Devices()
		require.NoError(t, err)
		require.Len(t, list.All(), 2)
		require.Equal(t, "scripted0", list.All()[0].String())
		require.Equal(t, "scripted1", list.All()[1].String())
		require.NoError(t, list.Close())
		require.NoError(t, list.Close())
		require.Empty(t, list.All())

		for _, name := range []string{"", "scripted1"} {
			ctx, err := ibv.Open(name)
			require.NoError(t, err, "the second device has an active port")
			require.Equal(t, "scripted1", ctx.Device.String())
			require.NoError(t, ctx.Close())
		}
		_, err = ibv.Open("scripted2")
		require.ErrorIs(t, err, syscall.ENODEV)
		require.ErrorContains(t, err, "[scripted0 scripted1]")
		requireNothingOut(t)
	})
	t.Run("iWARP", func(t *testing.T) {
		for n, want := range map[int]string{2: "scripted1", 3: "scripted2"} {
			devices(n)
			list, err := ibv.Devices()
			require.NoError(t, err)
			list.All()[1].TransportType = ibv.TransportIWARP
			ctx, err := ibv.Open("")
			require.NoError(t, err)
			require.Equal(t, want, ctx.Device.String(), "of %d devices", n)
			require.NoError(t, ctx.Close())
			list.All()[1].TransportType = ibv.TransportIB
			require.NoError(t, list.Close())
		}
		requireNothingOut(t)
	})
}

// The same with the machine's own libibverbs, whatever devices it has.
func TestOpenOnThisMachine(t *testing.T) {
	list, err := ibv.Devices()
	if err != nil {
		require.ErrorIs(t, err, syscall.ENOSYS, "these tests need libibverbs")
		require.ErrorContains(t, err, "load ib_uverbs")
	} else {
		require.NoError(t, list.Close())
	}
	ctx, err := ibv.Open("no such device")
	require.Nil(t, ctx)
	require.Error(t, err)
	for _, errno := range []syscall.Errno{syscall.ENODEV, syscall.ENOSYS} {
		var e *ibv.Error
		require.ErrorAs(t, err, &e)
		if e.Errno == errno {
			require.ErrorIs(t, err, errno)
			require.NotEmpty(t, e.Hint)
			return
		}
	}
	require.Fail(t, "another error", err)
}
