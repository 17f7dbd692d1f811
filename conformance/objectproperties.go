package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Objects that devices may do without, and what they may not be able to do with them.
var (
	// ResizableCQs is that a completion queue can get room for more, or less.
	ResizableCQs = &Property{Name: "completion queues that can be resized", lacks: func(t *T) string {
		cq := t.CQ(1, rdma.CQOptions{NoChannel: true})
		return missing(t, "a way to resize completion queues", func() error { return cq.Resize(1) })
	}}
	// Moderation is that events can wait for more completions.
	Moderation = &Property{Name: "events that can be held back", lacks: lacksModeration}
	// ExtendedCQs are completion queues whose completions can tell more.
	ExtendedCQs = &Property{Name: "extended completion queues", lacks: lacksExtendedCQs}
	// Timestamps are completions that tell when they came.
	Timestamps = &Property{Name: "completions with timestamps", lacks: lacksTimestamps}
	// Batches are posts by ibv_wr_start and its like.
	Batches = &Property{Name: "queue pairs that take batches", lacks: lacksBatches}
	// SharedReceiveQueues are receives for many queue pairs.
	SharedReceiveQueues = &Property{Name: "shared receive queues", lacks: func(t *T) string {
		return missing(t, "shared receive queues", func() error { return andClose(t.PD().CreateSRQ(1, rdma.SRQOptions{})) })
	}}
	// SRQAttributes is that a shared receive queue tells how large it is, and its limit.
	SRQAttributes = &Property{Name: "the attributes of shared receive queues", lacks: func(t *T) string {
		srq, err := t.PD().CreateSRQ(1, rdma.SRQOptions{})
		require.NoError(t, err)
		return missing(t, "a way to ask for the attributes of shared receive queues", func() error {
			_, err := srq.Query()
			return err
		})
	}}
	// ResizableSRQs is that a shared receive queue can get room for more.
	ResizableSRQs = &Property{Name: "shared receive queues that can be resized", lacks: func(t *T) string {
		if t.Attr().DeviceCapFlags&ibv.DeviceSRQResize == 0 {
			return "the device says that it cannot resize shared receive queues"
		}
		return ""
	}}
	// Windows1 are memory windows that ibv_bind_mw binds.
	Windows1 = &Property{Name: "memory windows of type 1", lacks: func(t *T) string { return lacksWindows(t, ibv.MWType1) }}
	// Windows2 are memory windows that work requests bind.
	Windows2 = &Property{Name: "memory windows of type 2", lacks: func(t *T) string { return lacksWindows(t, ibv.MWType2) }}
	// Reregistration is that a region can get other memory, access or another protection domain.
	Reregistration = &Property{Name: "regions that can be changed", lacks: func(t *T) string {
		region := t.Region(8, 0)
		return missing(t, "a way to change a memory region", func() error {
			return region.Raw().Rereg(ibv.ReregMRChangeAccess, nil, nil, ibv.AccessLocalWrite)
		})
	}}
	// ParentDomains are protection domains with more to them.
	ParentDomains = &Property{Name: "parent domains", lacks: lacksParentDomains}
	// ThreadDomains are promises that one goroutine at a time uses what is made in them.
	ThreadDomains = &Property{Name: "thread domains", lacks: lacksThreadDomains}
	// DeviceMemory is memory of the device's own.
	DeviceMemory = &Property{Name: "memory of the device", lacks: lacksDeviceMemory}
	// NullRegions are regions that swallow what is written, and read as zeros.
	NullRegions = &Property{Name: "regions of no memory", lacks: lacksNullRegions}
	// RegionAttributes is ibv_reg_mr_ex.
	RegionAttributes = &Property{Name: "regions by attributes", lacks: lacksRegionAttributes}
	// Advice is ibv_advise_mr.
	Advice = &Property{Name: "advice about regions", lacks: lacksAdvice}
	// Sharing is a second object for what the context has in the kernel.
	Sharing = &Property{Name: "objects that are imported", lacks: lacksSharing}
	// XRC is shared receive queues that any sender of a process can address.
	XRC = &Property{Name: "XRC", lacks: func(t *T) string {
		return missing(t, "XRC domains", func() error {
			xrcd, err := openXRCD(t)
			return andClose(xrcd, err)
		})
	}}
)

func lacksWindows(t *T, typ ibv.MWType) string {
	return missing(t, typ.String(), func() error { return andClose(t.PD().AllocWindow(typ)) })
}

// missing tries something, and says that there is nothing of the kind if that is the
// error. Any other error is the scenario's to find.
func missing(t *T, what string, try func() error) string {
	if err := try(); unsupported(err) {
		return "the device, its provider or libibverbs does not have " + what
	}
	return ""
}

// andClose closes what was made, if it was.
func andClose[O interface{ Close() error }](made O, err error) error {
	if err != nil {
		return err
	}
	return made.Close()
}

// What devices do in their own way with them.
var (
	// SolicitedEvents is that a queue armed for solicited completions has an event of them.
	SolicitedEvents = &Property{Name: "events of solicited completions"}
	// FailedSendEvents is that a send that fails is as good as solicited.
	FailedSendEvents = &Property{Name: "events of failed sends as of solicited completions"}
	// FlushedEvents is that a receive that is flushed is as good as solicited.
	FlushedEvents = &Property{Name: "events of flushed receives as of solicited completions"}
	// MTULimit is that a port's active MTU is no greater than what it says that it can have.
	MTULimit = &Property{Name: "a port's greatest MTU"}
	// LastingRequests is that a request for any completion outlasts one for solicited ones.
	LastingRequests = &Property{Name: "requests for events that later ones do not narrow"}
	// LastReceiveEvents is that a queue pair that has ended is done with its shared queue.
	LastReceiveEvents = &Property{Name: "events of the last receive taken from a shared queue"}
	// OwnAddresses is that a region counts from the address that the program gives it.
	OwnAddresses = &Property{Name: "regions counted from addresses of their own"}
	// WindowBounds is that a window opens no more of its region than it is bound to.
	WindowBounds = &Property{Name: "windows that end where they were bound to end"}
	// BusyQueuesStay is that a completion queue works on when C has refused to close it.
	BusyQueuesStay = &Property{Name: "busy completion queues that stay as they were when they cannot be closed"}
	// BatchLists is lists of entries in batches.
	BatchLists = &Property{Name: "batches with lists of entries"}
	// InvalidatedFlag is IBV_WC_WITH_INV in completions of messages that invalidate.
	InvalidatedFlag = &Property{Name: "IBV_WC_WITH_INV of messages that invalidate"}
)
