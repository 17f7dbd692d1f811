package ibv

import (
	"fmt"
	"strings"
)

// transition is a change of a queue pair's state, or a change of attributes in a
// state that stays.
type transition struct{ from, to QPState }

// attributes is what a transition takes besides the state: what it must get, and
// what it may get.
type attributes struct{ required, optional QPAttrMask }

// Sets of attributes that come together.
const (
	initConnected = QPAttrMaskPKeyIndex | QPAttrMaskPort | QPAttrMaskAccessFlags
	initDatagram  = QPAttrMaskPKeyIndex | QPAttrMaskPort | QPAttrMaskQKey
	rtrConnected  = QPAttrMaskAV | QPAttrMaskPathMTU | QPAttrMaskDestQPN | QPAttrMaskRQPSN
	// Who answers RDMA reads and atomics, and is sent to.
	rtrResponder = QPAttrMaskMaxDestRdAtomic | QPAttrMaskMinRNRTimer
	// Who asks for them, and sends.
	rtsRequester = QPAttrMaskMaxQPRdAtomic | QPAttrMaskRetryCnt | QPAttrMaskRNRRetry
	migration    = QPAttrMaskAltPath | QPAttrMaskPathMigState
)

// transitions is the table of the InfiniBand specification as ibv_modify_qp(3) and
// the kernel's core have it: every transition that there is, with the attributes
// that a type of queue pairs takes. A type without an entry takes none, but for the
// ends of XRC: see unused.
var transitions = func() map[transition]map[QPType]attributes {
	const (
		mayRTR     = QPAttrMaskAltPath | QPAttrMaskAccessFlags | QPAttrMaskPKeyIndex
		mayRTS     = QPAttrMaskCurState | QPAttrMaskAccessFlags | migration
		mayRekey   = QPAttrMaskCurState | QPAttrMaskQKey
		mayReroute = QPAttrMaskAV | QPAttrMaskAccessFlags | QPAttrMaskPKeyIndex | migration
	)
	requires := func(mask QPAttrMask) attributes { return attributes{required: mask} }
	allows := func(mask QPAttrMask) attributes { return attributes{optional: mask} }
	goesOn := map[QPType]attributes{
		QPTRC: allows(mayRTS | QPAttrMaskMinRNRTimer), QPTUC: allows(mayRTS), QPTUD: allows(mayRekey),
	}
	table := map[transition]map[QPType]attributes{
		{QPSReset, QPSInit}: {
			QPTRC: requires(initConnected), QPTUC: requires(initConnected), QPTUD: requires(initDatagram),
			QPTRawPacket: requires(QPAttrMaskPort),
		},
		{QPSInit, QPSInit}: {
			QPTRC: allows(initConnected), QPTUC: allows(initConnected), QPTUD: allows(initDatagram),
		},
		{QPSInit, QPSRTR}: {
			QPTRC: {rtrConnected | rtrResponder, mayRTR}, QPTUC: {rtrConnected, mayRTR},
			QPTUD: allows(QPAttrMaskPKeyIndex | QPAttrMaskQKey),
		},
		{QPSRTR, QPSRTS}: {
			QPTRC: {QPAttrMaskSQPSN | QPAttrMaskTimeout | rtsRequester, mayRTS | QPAttrMaskMinRNRTimer},
			QPTUC: {QPAttrMaskSQPSN, mayRTS}, QPTUD: {QPAttrMaskSQPSN, mayRekey},
			QPTRawPacket: allows(QPAttrMaskRateLimit),
		},
		{QPSRTS, QPSRTS}: {
			QPTRC: goesOn[QPTRC], QPTUC: goesOn[QPTUC], QPTUD: goesOn[QPTUD],
			QPTRawPacket: allows(QPAttrMaskRateLimit),
		},
		{QPSRTS, QPSSQD}: {
			QPTRC: allows(QPAttrMaskEnSQDAsyncNotify), QPTUC: allows(QPAttrMaskEnSQDAsyncNotify), QPTUD: allows(QPAttrMaskEnSQDAsyncNotify),
		},
		{QPSSQD, QPSRTS}: goesOn,
		{QPSSQD, QPSSQD}: {
			QPTRC: allows(mayReroute | QPAttrMaskPort | QPAttrMaskTimeout | rtsRequester | rtrResponder),
			QPTUC: allows(mayReroute), QPTUD: allows(QPAttrMaskPKeyIndex | QPAttrMaskQKey),
		},
		{QPSSQE, QPSRTS}: {
			QPTUC: allows(QPAttrMaskCurState | QPAttrMaskAccessFlags), QPTUD: allows(mayRekey),
		},
	}
	for state := QPSReset; state <= QPSErr; state++ {
		table[transition{state, QPSReset}] = nil
		if state != QPSReset {
			table[transition{state, QPSErr}] = nil
		}
	}
	return table
}()

// unused is, of each type that the table knows, the attributes of RC that an end
// of XRC has no use for; otherwise it takes what RC does. The kernel drops them if
// they are there, so a program may set what both ends need.
var unused = map[QPType]QPAttrMask{
	QPTRC: 0, QPTUC: 0, QPTUD: 0, QPTRawPacket: 0,
	QPTXRCSend: rtrResponder,
	QPTXRCRecv: rtsRequester,
}

// tabled is the attributes that the table knows all about. What came later, as
// QPAttrMaskRateLimit did, devices take in more and more transitions.
const tabled = QPAttrMaskDestQPN<<1 - 1

// takes is what a queue pair of the type takes, if there is the transition.
func (v QPType) takes(change transition) (attributes, bool) {
	types, possible := transitions[change]
	if v == QPTXRCSend || v == QPTXRCRecv {
		a := types[QPTRC]
		return attributes{a.required &^ unused[v], a.optional &^ unused[v]}, possible
	}
	return types[v], possible
}

// Needs is the mask for [QP.Modify] of what a queue pair of the type must get for a
// change of its state, by the table of the InfiniBand specification: the new state,
// and what is required with it. Of a change that there is not, and of types that the
// table does not know, it is the state alone.
func (v QPType) Needs(from, to QPState) QPAttrMask {
	a, _ := v.takes(transition{from, to})
	return QPAttrMaskState | a.required
}

// next is the states that a queue pair can move to.
func (v QPState) next() (states []QPState) {
	for state := QPSReset; state <= QPSErr; state++ {
		if _, ok := transitions[transition{v, state}]; ok {
			states = append(states, state)
		}
	}
	return states
}

// objections is what the table has against a change of a queue pair of the type
// that is in the state from; nothing where it does not know.
func (v QPType) objections(from QPState, attr *QPAttr, mask QPAttrMask) []string {
	drops, known := unused[v]
	if !known || from > QPSErr || mask&^tabled != 0 {
		return nil
	}
	found := v.objectionsTo(from, attr, mask&^drops)
	if len(found) == 0 || mask&QPAttrMaskCurState == 0 || attr.CurQPState > QPSErr {
		return found
	}
	// Some drivers go by the state that the caller names.
	if len(v.objectionsTo(attr.CurQPState, attr, mask&^drops)) == 0 {
		return nil
	}
	return found
}

func (v QPType) objectionsTo(from QPState, attr *QPAttr, mask QPAttrMask) (found []string) {
	to, moves := from, mask&QPAttrMaskState != 0
	if moves {
		to = attr.QPState
	}
	takes, possible := v.takes(transition{from, to})
	if !possible {
		what := fmt.Sprintf("from %v it can move to %s", from, or(from.next()))
		if !moves {
			what += ", and changes no attribute without moving"
		}
		return []string{what}
	}
	mask &^= QPAttrMaskState
	object := func(verb string, which QPAttrMask) {
		way := fmt.Sprintf("in %v", from)
		if moves {
			way = fmt.Sprintf("from %v to %v", from, to)
		}
		found = append(found, fmt.Sprintf("%s a queue pair of type %v %s %v", way, v, verb, which))
	}
	if missing := takes.required &^ mask; missing != 0 {
		object("also needs", missing)
	}
	if surplus := mask &^ (takes.required | takes.optional); surplus != 0 {
		object("does not take", surplus)
	}
	return found
}

// or lists states.
func or(states []QPState) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = s.String()
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
