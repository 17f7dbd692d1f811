package cheader

import (
	"math"
	"strconv"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// The values after which cc counts on in another way than C compilers do.
var (
	maxSigned   = strconv.FormatInt(math.MaxInt64, 10)
	maxUnsigned = strconv.FormatUint(math.MaxUint64, 10)
)

// enum takes an enumeration that is defined at n.
func (r *reader) enum(t *cc.EnumType, n cc.Node) {
	header, line, ok := where(n)
	if !ok {
		return
	}
	if s, ok := n.(*cc.EnumSpecifier); ok {
		if key, _ := enumKey(s); r.out[key] {
			return
		}
	}
	size, _ := r.enumSizeAlign(t)
	e := &abi.Enum{Header: header, Line: line, Size: size, Enumerators: []abi.Enumerator{}}
	e.Name, e.Typedef = r.enumName(t)
	low, high := enumRange(t)
	if low < 0 && high > math.MaxInt64 {
		r.failf(n, "no integer type holds all values of the enumeration")
	}
	last := ""
	for _, en := range t.Enumerators() {
		value, negative, ok := integer(en.Value())
		if !ok {
			r.failf(en, "enumerator %s has no integer value", en.Token.SrcStr())
			continue
		}
		if en.Case == cc.EnumeratorIdent && (last == maxSigned || last == maxUnsigned) {
			r.failf(en, "enumerator %s follows one that has the largest value; write its own", en.Token.SrcStr())
		}
		last = value
		// C makes the type unsigned unless a value is negative.
		e.Signed = e.Signed || negative
		e.Enumerators = append(e.Enumerators, abi.Enumerator{
			Name: en.Token.SrcStr(), Value: value, Bit: isBitEnumerator(en),
		})
	}
	r.facts.Enums = append(r.facts.Enums, e)
}

// enumName is the tag of an enumeration, or the first typedef of it.
func (r *reader) enumName(t *cc.EnumType) (name string, isTypedef bool) {
	tag := t.Tag()
	if tag.SrcStr() != "" {
		return tag.SrcStr(), false
	}
	if list := t.Enumerators(); len(list) > 0 && r.enumTypedefs[list[0]] != nil {
		return r.enumTypedefs[list[0]].Name(), true
	}
	return "", false
}

// enumTypedef notes the first typedef that names an untagged enumeration. It is
// called in the order of the header.
func (r *reader) enumTypedef(d *cc.Declarator) {
	t, ok := d.Type().(*cc.EnumType)
	if !ok || len(t.Enumerators()) == 0 {
		return
	}
	key := t.Enumerators()[0]
	if r.enumTypedefs[key] == nil {
		r.enumTypedefs[key] = d
	}
}

// untaggedEnums takes the enumerations that no tag names: the scope knows only
// their enumerators, and the typedef that may name one.
func (r *reader) untaggedEnums() {
	for _, n := range r.enumSpecifiers {
		t, ok := n.Type().(*cc.EnumType)
		if !ok {
			continue
		}
		if tag := t.Tag(); tag.SrcStr() == "" {
			r.enum(t, n)
		}
	}
}

// isBitEnumerator reports whether the header writes an enumerator the way it
// writes flags: a shifted one, flags joined, or another enumerator that is one.
func isBitEnumerator(en *cc.Enumerator) bool {
	return en.Case == cc.EnumeratorExpr && isBits(en.ConstantExpression)
}

func isBits(e cc.ExpressionNode) bool {
	switch e := e.(type) {
	case *cc.ConstantExpression:
		return isBits(e.ConditionalExpression)
	case *cc.ExpressionList:
		return e.ExpressionList == nil && isBits(e.AssignmentExpression)
	case *cc.ShiftExpression:
		return e.Case == cc.ShiftExpressionLsh
	case *cc.InclusiveOrExpression:
		return e.Case == cc.InclusiveOrExpressionOr && isBits(e.InclusiveOrExpression) && isBits(e.ExclusiveOrExpression)
	case *cc.PrimaryExpression:
		switch e.Case {
		case cc.PrimaryExpressionExpr:
			return isBits(e.ExpressionList)
		case cc.PrimaryExpressionIdent:
			en, ok := e.ResolvedTo().(*cc.Enumerator)
			return ok && isBitEnumerator(en)
		}
	}
	return false
}

// hasNegative reports whether a value of an enumeration is negative, which is
// what makes C give its type a sign.
func hasNegative(t *cc.EnumType) bool {
	for _, en := range t.Enumerators() {
		if _, negative, _ := integer(en.Value()); negative {
			return true
		}
	}
	return false
}

// integer is the decimal form of an integer value.
func integer(v cc.Value) (text string, negative, ok bool) {
	switch v := v.(type) {
	case cc.Int64Value:
		return strconv.FormatInt(int64(v), 10), v < 0, true
	case cc.UInt64Value:
		return strconv.FormatUint(uint64(v), 10), false, true
	}
	return "", false, false
}
