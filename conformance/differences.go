package conformance

import (
	"runtime"

	"github.com/goverbs/goverbs/ibv"
)

// Property is something that a device may have or do without, or do in its own way.
type Property struct {
	// Name says what a device has or does that is as the specification has it.
	Name string
	// lacks says why the device has it not, or is "": what a scenario that needs it asks.
	// It is nil of a way of doing things, which scenarios see by themselves.
	lacks func(t *T) string
}

// Difference is where a provider differs from the rest, and why it may.
type Difference struct {
	Property *Property
	// Provider is a provider's name, or iWARP for all whose devices speak it, or InfiniBand
	// for all whose ports are InfiniBand's.
	Provider string
	// Before is the release of rdma-core where the difference ended, or 0.
	Before int
	// SinceLinux and BeforeLinux are the kernels where it began and ended, or zero.
	SinceLinux, BeforeLinux Linux
	Reason                  string
	// Status is what completions have in place of what scenarios expect otherwise, where
	// that is the difference.
	Status ibv.WCStatus
}

// What stands for all providers of such devices.
const (
	iWARP      = "iWARP"
	infiniBand = "InfiniBand"
)

// judged is the providers of which the table knows everything: what they do without,
// and is not in it, fails.
var judged = []string{"rxe", "siw", inProcess}

// differences is the one place that says where providers differ.
var differences = []Difference{
	{Property: ImmediateData, Provider: iWARP, Reason: "iWARP has no immediate data"},
	{Property: Atomics, Provider: iWARP, Reason: "iWARP has no atomic operations"},
	{Property: UC, Provider: iWARP, Reason: "iWARP has reliable connections only"},
	{Property: UD, Provider: iWARP, Reason: "iWARP has reliable connections only"},
	{Property: ReadsScatter, Provider: iWARP, Reason: "an iWARP read has one entry"},
	{Property: RNRRetry, Provider: iWARP, Reason: "iWARP has no RNR retry: a receive must be posted before its message"},
	{Property: Multicast, Provider: iWARP, Reason: "iWARP has no datagrams"},
	{Property: Moves, Provider: iWARP, Reason: "only librdmacm moves an iWARP queue pair to RTS"},
	{Property: Retries, Provider: iWARP, Reason: "the end of iWARP's TCP connection tells that a peer is gone"},
	{Property: RemoteErrors, Provider: iWARP, Reason: "iWARP ends the connection on a peer's mistake, without naming the work request"},

	{Property: Ethernet, Provider: infiniBand, Reason: "InfiniBand's addresses are LIDs"},

	{Property: AttributesChecked, Provider: "rxe", SinceLinux: Linux{6, 4}, Reason: "rxe asks the kernel's table about changes of the state only"},
	{Property: OwnStatus, Provider: "rxe", SinceLinux: Linux{6, 4}, Status: ibv.WCWRFlushErr, Reason: "rxe flushes with the rest what a queue pair has done wrong itself, or what is not acknowledged by then"},
	{Property: SendKeyStatus, Provider: "rxe", Status: ibv.WCLocQPOpErr, Reason: "rxe says IBV_WC_LOC_QP_OP_ERR of a wrong lkey of a send or write"},
	{Property: RecvBufferStatus, Provider: "rxe", Status: ibv.WCLocQPOpErr, Reason: "rxe says IBV_WC_LOC_QP_OP_ERR of receives with wrong buffers"},
	{Property: RecvLengthStatus, Provider: "rxe", Status: ibv.WCLocQPOpErr, Reason: "rxe says IBV_WC_LOC_QP_OP_ERR of receives that are too small"},
	{Property: SendLengthStatus, Provider: "rxe", Status: ibv.WCRemOpErr, Reason: "rxe tells the sender IBV_WC_REM_OP_ERR of receives that are too small"},
	{Property: StateNamed, Provider: "rxe", Reason: "rxe takes the state that the caller names for the queue pair's own"},
	{Property: PKeyIndexChecked, Provider: "rxe", Reason: "rxe takes any P_Key index"},
	{Property: DestReadsChecked, Provider: "rxe", Reason: "rxe takes any max_dest_rd_atomic"},
	{Property: OwnQKey, Provider: "rxe", Reason: "rxe sends the qkey of the work request, also with its highest bit, which is a fault of its"},
	{Property: FlushInError, Provider: "rxe", Reason: "rxe may flush what is posted in the error state at the next change to it only"},
	{Property: ReceivesInReset, Provider: "rxe", Before: 40, Reason: "rxe took receives in RESET before rdma-core 40"},
	{Property: Windows1, Provider: "rxe", Before: 36, Reason: "rxe had no memory windows before rdma-core 36"},
	{Property: Windows2, Provider: "rxe", Before: 36, Reason: "rxe had no memory windows before rdma-core 36"},
	{Property: ExtendedCQs, Provider: "rxe", Before: 34, Reason: "rxe had no extended completion queues before rdma-core 34"},
	{Property: Batches, Provider: "rxe", Before: 34, Reason: "rxe's queue pairs took no batches before rdma-core 34"},

	{Property: SendKeyStatus, Provider: "siw", Status: ibv.WCLocQPOpErr, Reason: "siw says IBV_WC_LOC_QP_OP_ERR of a wrong lkey of a send or write"},
	{Property: SendRangeStatus, Provider: "siw", Status: ibv.WCLocQPOpErr, Reason: "siw says IBV_WC_LOC_QP_OP_ERR of a send from outside a region"},
	{Property: FlushEver, Provider: "siw", Reason: "siw takes posts in the error state and never ends them"},
	{Property: FlushItself, Provider: "siw", Reason: "siw flushes what is behind a failure of its own when the program moves the queue pair to the error state"},
	{Property: ReadsChecked, Provider: "siw", Reason: "siw checks no access rights of what its peer reads (siw_qp_sq_proc_tx), which is a fault of its"},
	{Property: EmptyReceives, Provider: "siw", Reason: "siw refuses receives without entries"},
	{Property: ReceivesInReset, Provider: "siw", Reason: "siw takes receives in any state"},

	{Property: Reregistration, Provider: "rxe", Reason: "rxe cannot change regions"},
	{Property: Moderation, Provider: "rxe", Reason: "rxe has an event for each request, and holds none back"},
	{Property: Timestamps, Provider: "rxe", Reason: "rxe has no timestamps"},
	{Property: BatchLists, Provider: "rxe", Before: 64, Reason: "rxe spoiled lists of entries in batches before rdma-core 64"},
	{Property: ParentDomains, Provider: "rxe", Reason: "rxe has no parent domains"},
	{Property: ThreadDomains, Provider: "rxe", Reason: "rxe has no thread domains"},
	{Property: DeviceMemory, Provider: "rxe", Reason: "rxe has no memory of its own"},
	{Property: NullRegions, Provider: "rxe", Reason: "rxe has no regions of no memory"},
	{Property: Advice, Provider: "rxe", Reason: "rxe takes no advice about regions"},
	{Property: Sharing, Provider: "rxe", Reason: "rxe cannot import objects"},
	{Property: RegionAttributes, Provider: "rxe", Before: 64, Reason: "libibverbs registered by attributes with few providers before rdma-core 64"},
	{Property: XRC, Provider: "rxe", Reason: "rxe has no XRC"},
	{Property: FailedSendEvents, Provider: "rxe", Reason: "rxe forgets that a send that has failed is solicited"},
	{Property: FlushedEvents, Provider: "rxe", SinceLinux: Linux{6, 4}, Reason: "rxe forgets that what is flushed is solicited"},
	{Property: LastReceiveEvents, Provider: "rxe", BeforeLinux: Linux{6, 11}, Reason: "rxe does not tell when a queue pair takes no more of a shared queue's receives"},
	{Property: WindowBounds, Provider: "rxe", Reason: "rxe compares what comes by a window with its region's bounds only"},
	{Property: InvalidatedFlag, Provider: "rxe", Reason: "rxe passes the kernel's flag on, which is another one in C"},

	{Property: ResizableCQs, Provider: "siw", Reason: "siw cannot resize completion queues"},
	{Property: ResizableSRQs, Provider: "siw", Reason: "siw cannot resize shared receive queues"},
	{Property: SRQAttributes, Provider: "siw", Reason: "siw's library cannot ask for them"},
	{Property: Reregistration, Provider: "siw", Reason: "siw cannot change regions"},
	{Property: Moderation, Provider: "siw", Reason: "siw has an event for each request, and holds none back"},
	{Property: Windows1, Provider: "siw", Reason: "siw has no memory windows"},
	{Property: Windows2, Provider: "siw", Reason: "siw has no memory windows"},
	{Property: ExtendedCQs, Provider: "siw", Reason: "siw has no extended completion queues"},
	{Property: Timestamps, Provider: "siw", Reason: "siw has no timestamps"},
	{Property: Batches, Provider: "siw", Reason: "siw's queue pairs take no batches"},
	{Property: ParentDomains, Provider: "siw", Reason: "siw has no parent domains"},
	{Property: ThreadDomains, Provider: "siw", Reason: "siw has no thread domains"},
	{Property: DeviceMemory, Provider: "siw", Reason: "siw has no memory of its own"},
	{Property: NullRegions, Provider: "siw", Reason: "siw has no regions of no memory"},
	{Property: Advice, Provider: "siw", Reason: "siw takes no advice about regions"},
	{Property: Sharing, Provider: "siw", Reason: "siw cannot import objects"},
	{Property: RegionAttributes, Provider: "siw", Before: 64, Reason: "libibverbs registered by attributes with few providers before rdma-core 64"},
	{Property: XRC, Provider: "siw", Reason: "siw has no XRC"},
	{Property: SolicitedEvents, Provider: "siw", Reason: "siw forgets that a message was solicited"},
	{Property: FailedSendEvents, Provider: "siw", Reason: "siw has no events of solicited completions"},
	{Property: LastingRequests, Provider: "siw", Reason: "siw keeps the last request only"},
	{Property: LastReceiveEvents, Provider: "siw", Reason: "siw does not tell when a queue pair takes no more of a shared queue's receives"},
	{Property: BusyQueuesStay, Provider: "siw", Reason: "siw unmaps a completion queue before the kernel says that it is busy, and the next poll faults"},
	{Property: MTULimit, Provider: "siw", SinceLinux: Linux{6, 2}, Reason: "siw tells the limit of the network's interface, which may be 0 for none"},
	{Property: OwnAddresses, Provider: "siw", Reason: "siw counts from the memory's address, whatever it is told"},

	{Property: Advice, Provider: inProcess, Reason: "ibvtest's regions are always there"},
	{Property: Sharing, Provider: inProcess, Reason: "ibvtest's objects are one process's"},
}

// Differences is all that is known of where providers differ from what scenarios expect
// otherwise, with the reasons.
func Differences() []Difference { return append([]Difference(nil), differences...) }

// difference is the table's entry for this device.
func (t *T) difference(property *Property) (Difference, bool) {
	for _, d := range differences {
		if d.Property == property && t.is(d.Provider) && d.in(t.provider) {
			return d, true
		}
	}
	return Difference{}, false
}

// in reports whether the provider's release and the kernel are those that differ.
func (d Difference) in(p Provider) bool {
	earlier := d.Before == 0 || p.Release != 0 && p.Release < d.Before
	begun := d.SinceLinux == Linux{} || !p.Linux.before(d.SinceLinux)
	ended := d.BeforeLinux != Linux{} && !p.Linux.before(d.BeforeLinux)
	return earlier && begun && !ended
}

// is reports whether what the table says of a provider is said of this device.
func (t *T) is(provider string) bool {
	switch provider {
	case iWARP:
		return t.provider.IWARP
	case infiniBand:
		return t.Port().LinkLayer == ibv.LinkLayerInfiniband
	default:
		return t.provider.Name == provider
	}
}

// Differs reports whether the provider does it in a way of its own, by the table. The
// scenario then requires that way, so that a difference that has gone fails.
func (t *T) Differs(property *Property) bool {
	d, differs := t.difference(property)
	if differs {
		t.Logf("differs: %s", d.Reason)
	}
	return differs
}

// Status is want, or what the provider has in its place, by the table.
func (t *T) Status(property *Property, want ibv.WCStatus) ibv.WCStatus {
	if d, differs := t.difference(property); differs {
		t.Logf("differs: %s", d.Reason)
		return d.Status
	}
	return want
}

// Needs ends the scenario as not supported where the device has it not. What a provider
// is known to do without must really be missing, and what it is known to have be there.
func (t *T) Needs(properties ...*Property) {
	for _, p := range properties {
		lacks := p.lacks(t)
		d, differs := t.difference(p)
		switch {
		case differs && lacks == "":
			t.Errorf("the table of differences says of %v: %s. That is not so any more: %s is there", t.provider, d.Reason, p.Name)
			t.FailNow()
		case differs:
			t.lacks = d.Reason
			runtime.Goexit()
		case lacks != "":
			t.NotSupported("%s", lacks)
		}
	}
}
