package gosrc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// LeftOut is a record that was not written, for Go cannot express it, or has a
// member by value that was not: a pointer to it becomes one to an opaque type. Or
// it is a function that Go cannot call.
type LeftOut struct {
	What   string // as an error says where it is: "x.h:3: struct s"
	Target string
	Why    error
}

// recordErrors are the records that could not be written.
type recordErrors []recordError

type recordError struct {
	record *abi.Record
	err    error
}

func (e recordErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.err.Error()
	}
	return strings.Join(lines, "\n")
}

// leaveOut declares what facts hold, without what cannot be expressed. What has
// a left out record as a member fails in its turn.
func leaveOut(facts *abi.Facts, declare func(*abi.Facts) (*output, error)) (out *output, left []LeftOut, err error) {
	for {
		out, err = declare(facts)
		var failed recordErrors
		if !errors.As(err, &failed) {
			if err == nil {
				left = append(left, out.left...)
			}
			return out, left, err
		}
		rest := *facts
		rest.Records = slices.Clone(facts.Records)
		for _, one := range failed {
			r := one.record
			at := placeOf(r)
			left = append(left, LeftOut{What: at, Target: facts.Target(), Why: one.err})
			rest.Records[slices.Index(rest.Records, r)] = opaque(r)
		}
		facts = &rest
	}
}

// placeOf is a record and where it is. Of the system's own, only the header is
// known.
func placeOf(r *abi.Record) string {
	if r.Line == 0 {
		return r.Header + ": " + cName(r)
	}
	return fmt.Sprintf("%s:%d: %s", r.Header, r.Line, cName(r))
}

// opaque is a record that is declared only.
func opaque(r *abi.Record) *abi.Record {
	return &abi.Record{Name: r.Name, Kind: r.Kind, Typedef: r.Typedef, Header: r.Header, Line: r.Line, Opaque: true}
}
