package cheader

import (
	"strconv"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// enum takes an enumeration that is defined at n.
func (r *reader) enum(t *cc.EnumType, n cc.Node) {
	header, line, ok := where(n)
	if !ok {
		return
	}
	tag := t.Tag()
	size, _ := r.enumSizeAlign(t)
	e := &abi.Enum{Name: tag.SrcStr(), Header: header, Line: line, Size: size, Enumerators: []abi.Enumerator{}}
	for _, en := range t.Enumerators() {
		value, negative, ok := integer(en.Value())
		if !ok {
			r.failf(en, "enumerator %s has no integer value", en.Token.SrcStr())
			continue
		}
		// C makes the type unsigned unless a value is negative.
		e.Signed = e.Signed || negative
		e.Enumerators = append(e.Enumerators, abi.Enumerator{
			Name: en.Token.SrcStr(), Value: value, Bit: isBitEnumerator(en),
		})
	}
	r.facts.Enums = append(r.facts.Enums, e)
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
