package ibv

import (
	"math"
	"unsafe"
)

// FlowSpecification is one of C's structs of that kind: what a packet must have, as
// *[FlowSpecEth], or an action, as *[FlowSpecActionDrop]. Its Type and Size may be
// left 0 where the struct has one type; Type may have FlowSpecTypeInner added. A
// *[FlowSpec] has both set.
type FlowSpecification interface{ flowSpec() flowSpec }

// flowSpec is a specification's memory, and the types that its struct is for; any,
// if there are none.
type flowSpec struct {
	at    unsafe.Pointer
	size  uintptr
	types []FlowSpecType
}

// NewFlowAttr lays out a rule as C wants it, for [QP.CreateFlow]: attr, its Size and
// NumOfSpecs counted, and copies of the specifications behind it, without gaps.
// Members of more than a byte are in network byte order in them. Specifications
// for headers go from the outermost one inwards. The result may be used for
// several rules.
func NewFlowAttr(attr FlowAttr, specs ...FlowSpecification) (*FlowAttr, error) {
	act := action{op: "lay out a flow"}
	size := unsafe.Sizeof(attr)
	found := make([]flowSpec, len(specs))
	for i, spec := range specs {
		if spec == nil {
			return nil, act.invalid("specification %d is nil", i)
		}
		s := spec.flowSpec()
		if s.at == nil {
			return nil, act.invalid("specification %d is nil", i)
		}
		if err := s.check(act, i); err != nil {
			return nil, err
		}
		found[i] = s
		size += s.size
	}
	if len(specs) > math.MaxUint8 || size > math.MaxUint16 {
		return nil, act.invalid("there are %d specifications, %d bytes with the attributes: there is room for %d, and for %d bytes", len(specs), size, math.MaxUint8, math.MaxUint16)
	}
	attr.Size, attr.NumOfSpecs = uint16(size), uint8(len(specs))
	// Words, for the alignment; the pointers in specifications are numbers.
	block := make([]uint64, (size+7)/8)
	// Safe: the block is as long as all that is copied into it.
	start := unsafe.Pointer(unsafe.SliceData(block))
	*(*FlowAttr)(start) = attr
	at := unsafe.Sizeof(attr)
	for _, s := range found {
		// Safe: every specification is at least a header, and so many bytes long.
		to := unsafe.Slice((*byte)(unsafe.Add(start, at)), s.size)
		copy(to, unsafe.Slice((*byte)(s.at), s.size))
		header := s.header()
		*(*[headerSize]byte)(to) = *(*[headerSize]byte)(unsafe.Pointer(&header))
		at += s.size
	}
	return (*FlowAttr)(start), nil
}

// flowHeader is what every specification begins with.
type flowHeader struct {
	Type FlowSpecType
	Size uint16
}

// headerSize is where its members end: some structs go on right behind it.
const headerSize = unsafe.Offsetof(flowHeader{}.Size) + unsafe.Sizeof(flowHeader{}.Size)

// given is the header that the specification's struct has.
func (s *flowSpec) given() flowHeader {
	// Safe: all the structs begin with these members, and are longer than both.
	return *(*flowHeader)(s.at)
}

// header is the header with what may be left out.
func (s *flowSpec) header() flowHeader {
	h := s.given()
	if h.Type&^FlowSpecTypeInner == 0 && len(s.types) == 1 {
		h.Type |= s.types[0]
	}
	h.Size = uint16(s.size)
	return h
}

// check refuses what C would take for something else.
func (s *flowSpec) check(act action, i int) error {
	if size := s.given().Size; size != 0 && uintptr(size) != s.size {
		return act.invalid("specification %d has a Size of %d: its struct has %d bytes", i, size, s.size)
	}
	typ := s.header().Type
	switch untyped := len(s.types) == 0; {
	case untyped && typ != 0 && s.given().Size == 0:
		return act.invalid("specification %d has no Size", i)
	case untyped && typ != 0:
		return nil
	}
	for _, t := range s.types {
		if typ&^FlowSpecTypeInner == t {
			return nil
		}
	}
	return act.invalid("specification %d has the type %v, which its struct is not for: it is for %v", i, typ, s.types)
}

// specOf is a specification of one struct.
func specOf[T any](s *T, types ...FlowSpecType) flowSpec {
	return flowSpec{unsafe.Pointer(s), unsafe.Sizeof(*s), types}
}

func (s *FlowSpecEth) flowSpec() flowSpec     { return specOf(s, FlowSpecTypeEth) }
func (s *FlowSpecIPv4) flowSpec() flowSpec    { return specOf(s, FlowSpecTypeIPv4) }
func (s *FlowSpecIPv4Ext) flowSpec() flowSpec { return specOf(s, FlowSpecTypeIPv4Ext) }
func (s *FlowSpecIPv6) flowSpec() flowSpec    { return specOf(s, FlowSpecTypeIPv6) }
func (s *FlowSpecTCPUDP) flowSpec() flowSpec {
	return specOf(s, FlowSpecTypeTCP, FlowSpecTypeUDP)
}
func (s *FlowSpecTunnel) flowSpec() flowSpec     { return specOf(s, FlowSpecTypeVXLANTunnel) }
func (s *FlowSpecActionTag) flowSpec() flowSpec  { return specOf(s, FlowSpecTypeActionTag) }
func (s *FlowSpecActionDrop) flowSpec() flowSpec { return specOf(s, FlowSpecTypeActionDrop) }

// flowSpec takes as much of the union as its header says.
func (s *FlowSpec) flowSpec() flowSpec {
	if s == nil {
		return flowSpec{}
	}
	size := uintptr(s.Hdr().Size)
	if size < unsafe.Sizeof(flowHeader{}) || size > unsafe.Sizeof(*s) {
		size = unsafe.Sizeof(*s) // which check refuses
	}
	return flowSpec{at: unsafe.Pointer(s), size: size}
}
