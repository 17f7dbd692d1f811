//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// transition is a change of a queue pair's state, or a change of attributes in a state that stays.
type transition struct{ from, to ibv.QPState }

// takes is what a transition takes besides the state: what it must get, and what it may.
type takes struct{ must, may ibv.QPAttrMask }

// The attributes of the specification's table, 11.2.5.2, by what they are for.
const (
	path       = ibv.QPAttrMaskAV | ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskDestQPN | ibv.QPAttrMaskRQPSN
	answering  = ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskMinRNRTimer
	asking     = ibv.QPAttrMaskMaxQPRdAtomic | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry
	migrating  = ibv.QPAttrMaskAltPath | ibv.QPAttrMaskPathMigState
	first      = ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort
	running    = ibv.QPAttrMaskCurState | ibv.QPAttrMaskAccessFlags | migrating
	runningUD  = ibv.QPAttrMaskCurState | ibv.QPAttrMaskQKey
	reachingUC = ibv.QPAttrMaskAltPath | ibv.QPAttrMaskAccessFlags | ibv.QPAttrMaskPKeyIndex
	drainedUC  = ibv.QPAttrMaskAV | ibv.QPAttrMaskAccessFlags | ibv.QPAttrMaskPKeyIndex | migrating
)

// transitions are those of each type that work: besides these, every state goes to RESET, and every other one to ERR.
var transitions = map[ibv.QPType]map[transition]takes{
	ibv.QPTRC: {
		{ibv.QPSReset, ibv.QPSInit}: {must: first | ibv.QPAttrMaskAccessFlags},
		{ibv.QPSInit, ibv.QPSInit}:  {may: first | ibv.QPAttrMaskAccessFlags},
		{ibv.QPSInit, ibv.QPSRTR}:   {path | answering, reachingUC},
		{ibv.QPSRTR, ibv.QPSRTS}:    {ibv.QPAttrMaskSQPSN | ibv.QPAttrMaskTimeout | asking, running | ibv.QPAttrMaskMinRNRTimer},
		{ibv.QPSRTS, ibv.QPSRTS}:    {may: running | ibv.QPAttrMaskMinRNRTimer},
		{ibv.QPSRTS, ibv.QPSSQD}:    {may: ibv.QPAttrMaskEnSQDAsyncNotify},
		{ibv.QPSSQD, ibv.QPSRTS}:    {may: running | ibv.QPAttrMaskMinRNRTimer},
		{ibv.QPSSQD, ibv.QPSSQD}:    {may: drainedUC | ibv.QPAttrMaskPort | ibv.QPAttrMaskTimeout | asking | answering},
	},
	ibv.QPTUC: {
		{ibv.QPSReset, ibv.QPSInit}: {must: first | ibv.QPAttrMaskAccessFlags},
		{ibv.QPSInit, ibv.QPSInit}:  {may: first | ibv.QPAttrMaskAccessFlags},
		{ibv.QPSInit, ibv.QPSRTR}:   {path, reachingUC},
		{ibv.QPSRTR, ibv.QPSRTS}:    {ibv.QPAttrMaskSQPSN, running},
		{ibv.QPSRTS, ibv.QPSRTS}:    {may: running},
		{ibv.QPSRTS, ibv.QPSSQD}:    {may: ibv.QPAttrMaskEnSQDAsyncNotify},
		{ibv.QPSSQD, ibv.QPSRTS}:    {may: running},
		{ibv.QPSSQD, ibv.QPSSQD}:    {may: drainedUC},
		{ibv.QPSSQE, ibv.QPSRTS}:    {may: ibv.QPAttrMaskCurState | ibv.QPAttrMaskAccessFlags},
	},
	ibv.QPTUD: {
		{ibv.QPSReset, ibv.QPSInit}: {must: first | ibv.QPAttrMaskQKey},
		{ibv.QPSInit, ibv.QPSInit}:  {may: first | ibv.QPAttrMaskQKey},
		{ibv.QPSInit, ibv.QPSRTR}:   {may: ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskQKey},
		{ibv.QPSRTR, ibv.QPSRTS}:    {ibv.QPAttrMaskSQPSN, runningUD},
		{ibv.QPSRTS, ibv.QPSRTS}:    {may: runningUD},
		{ibv.QPSRTS, ibv.QPSSQD}:    {may: ibv.QPAttrMaskEnSQDAsyncNotify},
		{ibv.QPSSQD, ibv.QPSRTS}:    {may: runningUD},
		{ibv.QPSSQD, ibv.QPSSQD}:    {may: ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskQKey},
		{ibv.QPSSQE, ibv.QPSRTS}:    {may: runningUD},
	},
}

// unused is what an end of XRC has no use for of what RC takes. It is dropped where it is set, as the kernel does, so that
// programs may set what both ends need.
var unused = map[ibv.QPType]ibv.QPAttrMask{ibv.QPTXRCSend: answering, ibv.QPTXRCRecv: asking}

// takenBy is what a type of queue pairs takes in a transition, if there is such a one.
func takenBy(typ ibv.QPType, change transition) (takes, bool) {
	switch {
	case change.from > ibv.QPSErr || change.to > ibv.QPSErr:
		return takes{}, false
	case change.to == ibv.QPSReset, change.to == ibv.QPSErr && change.from != ibv.QPSReset:
		return takes{}, true
	}
	drops, isXRC := unused[typ]
	if isXRC {
		typ = ibv.QPTRC
	}
	taken, is := transitions[typ][change]
	return takes{taken.must &^ drops, taken.may &^ drops}, is
}
