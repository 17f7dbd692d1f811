package ibv

import (
	"fmt"
	"slices"
	"strings"
)

// member is a member of a struct of attributes that counts only if CompMask, or
// another member, has its bit.
type member struct {
	name string
	set  bool // it is not 0
	by   string
	bit  fmt.Stringer
	has  bool // the bit is there
}

// countsBy is a member that counts by a bit of CompMask.
func countsBy[M interface {
	~uint32 | ~uint64
	fmt.Stringer
}](mask, bit M, name string, set bool) member {
	return member{name: name, set: set, by: "CompMask", bit: bit, has: mask&bit != 0}
}

// unnamed says which members are set to no purpose. That alone is no error, for
// programs clear bits to do without something, and leave the members: it is the
// likely reason once C has refused.
func unnamed(members ...member) (found []string) {
	for _, m := range members {
		if m.set && !m.has {
			found = append(found, fmt.Sprintf("%s is set, but %s lacks %v", m.name, m.by, m.bit))
		}
	}
	return found
}

// asked is a member that asks for something that a device may not have.
type asked struct {
	name  string
	value fmt.Stringer
	given bool
}

// explainUnsupported says which of the things that were asked for may be what is
// not there, and what is set to no purpose.
func explainUnsupported(err error, unnamed []string, wanted ...asked) error {
	found := slices.Clone(unnamed)
	var list []string
	for _, a := range wanted {
		if a.given {
			list = append(list, fmt.Sprintf("%s %v", a.name, a.value))
		}
	}
	if len(list) > 0 {
		found = append(found, "perhaps not all of this is there: "+strings.Join(list, ", "))
	}
	if len(found) == 0 {
		return err
	}
	return alsoTry(err, strings.Join(found, "; "))
}
