package model

import "github.com/goverbs/goverbs/ibv"

// change is a change of a queue pair's state.
type change struct{ from, to ibv.QPState }

// needs is what a change takes, beside the state.
type needs struct{ required, optional ibv.QPAttrMask }

const (
	toInit  = ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort
	path    = ibv.QPAttrMaskAV | ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskDestQPN | ibv.QPAttrMaskRQPSN
	answers = ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskMinRNRTimer
	asks    = ibv.QPAttrMaskSQPSN | ibv.QPAttrMaskTimeout | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry | ibv.QPAttrMaskMaxQPRdAtomic
)

// changes is the table of ibv_modify_qp(3), and of chapter 10.3.1 of the InfiniBand
// specification, without the state SQD. What is not in it is refused. A move to RESET
// or ERR takes nothing; ERR is not to be had from RESET.
var changes = map[ibv.QPType]map[change]needs{
	ibv.QPTRC: {
		{ibv.QPSReset, ibv.QPSInit}: {toInit | ibv.QPAttrMaskAccessFlags, 0},
		{ibv.QPSInit, ibv.QPSInit}:  {0, toInit | ibv.QPAttrMaskAccessFlags},
		{ibv.QPSInit, ibv.QPSRTR}:   {path | answers, ibv.QPAttrMaskAltPath | ibv.QPAttrMaskAccessFlags | ibv.QPAttrMaskPKeyIndex},
		{ibv.QPSRTR, ibv.QPSRTS}:    {asks, goesOn | ibv.QPAttrMaskMinRNRTimer},
		{ibv.QPSRTS, ibv.QPSRTS}:    {0, goesOn | ibv.QPAttrMaskMinRNRTimer},
	},
	ibv.QPTUC: {
		{ibv.QPSReset, ibv.QPSInit}: {toInit | ibv.QPAttrMaskAccessFlags, 0},
		{ibv.QPSInit, ibv.QPSInit}:  {0, toInit | ibv.QPAttrMaskAccessFlags},
		{ibv.QPSInit, ibv.QPSRTR}:   {path, ibv.QPAttrMaskAltPath | ibv.QPAttrMaskAccessFlags | ibv.QPAttrMaskPKeyIndex},
		{ibv.QPSRTR, ibv.QPSRTS}:    {ibv.QPAttrMaskSQPSN, goesOn},
		{ibv.QPSRTS, ibv.QPSRTS}:    {0, goesOn},
		{ibv.QPSSQE, ibv.QPSRTS}:    {0, ibv.QPAttrMaskCurState | ibv.QPAttrMaskAccessFlags},
	},
	ibv.QPTUD: {
		{ibv.QPSReset, ibv.QPSInit}: {toInit | ibv.QPAttrMaskQKey, 0},
		{ibv.QPSInit, ibv.QPSInit}:  {0, toInit | ibv.QPAttrMaskQKey},
		{ibv.QPSInit, ibv.QPSRTR}:   {0, ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskQKey},
		{ibv.QPSRTR, ibv.QPSRTS}:    {ibv.QPAttrMaskSQPSN, ibv.QPAttrMaskCurState | ibv.QPAttrMaskQKey},
		{ibv.QPSRTS, ibv.QPSRTS}:    {0, ibv.QPAttrMaskCurState | ibv.QPAttrMaskQKey},
		{ibv.QPSSQE, ibv.QPSRTS}:    {0, ibv.QPAttrMaskCurState | ibv.QPAttrMaskQKey},
	},
}

const goesOn = ibv.QPAttrMaskCurState | ibv.QPAttrMaskAccessFlags | ibv.QPAttrMaskAltPath | ibv.QPAttrMaskPathMigState

// of is what a queue pair of the type needs for a change; possible is false if there is
// no such change.
func (c change) of(typ ibv.QPType) (n needs, possible bool) {
	if c.to == ibv.QPSReset || c.to == ibv.QPSErr && c.from != ibv.QPSReset {
		return needs{}, true
	}
	n, possible = changes[typ][c]
	return n, possible
}

// mask is the attributes that the call gives, when the queue pair is in that state:
// what a change from there needs, with and without what the call says.
func (c ModifyQP) mask(typ ibv.QPType, from ibv.QPState) ibv.QPAttrMask {
	n, _ := change{from, c.To}.of(typ)
	return (n.required|c.With)&^c.Without | ibv.QPAttrMaskState
}

// takes tells whether the specification has the change, with these attributes.
func (c ModifyQP) takes(qp *queuePair) bool {
	n, possible := change{qp.state, c.To}.of(qp.Type)
	given := c.mask(qp.Type, qp.state) &^ ibv.QPAttrMaskState
	return possible && n.required&^given == 0 && given&^(n.required|n.optional) == 0
}

// modify changes the state, with what that brings.
func (w *world) modify(qp *queuePair, c ModifyQP) {
	given := c.mask(qp.Type, qp.state)
	if given&ibv.QPAttrMaskAccessFlags != 0 {
		qp.access = c.Access
	}
	if given&ibv.QPAttrMaskQKey != 0 {
		qp.qkey = c.QKey
	}
	switch c.To {
	case ibv.QPSReset:
		qp.sends, qp.occupied, qp.waiting = nil, nil, nil
		qp.epoch++
		w.drop(qp.QP)
	case ibv.QPSErr:
		w.toError(qp)
	case ibv.QPSRTR:
		if given&ibv.QPAttrMaskDestQPN != 0 {
			qp.peer, qp.peerEpoch = c.Peer, w.qps[c.Peer].epoch
		}
	case ibv.QPSRTS:
		if given&ibv.QPAttrMaskRetryCnt != 0 {
			qp.retryCnt, qp.rnrRetry = c.RetryCnt, c.RNRRetry
		}
	}
	qp.state = c.To
}
