package headers

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed attributes.txt
var attributesTable string

// attributePrefix makes of an attribute's name that of a builtin. cc answers
// __has_builtin only, and asks for the answer: see HasBuiltin.
const attributePrefix = "__stub_attribute_"

// HasBuiltin answers __has_builtin, and __has_attribute, which Predefined turns
// into it.
func (t Target) HasBuiltin(name string) bool {
	attribute, ok := strings.CutPrefix(name, attributePrefix)
	if !ok {
		return strings.HasPrefix(name, "__builtin_") || strings.HasPrefix(name, "__sync_") || strings.HasPrefix(name, "__atomic_")
	}
	return slices.Contains(t.Attributes(), bare(attribute))
}

// bare is an attribute's name without the underscores around it.
func bare(attribute string) string {
	if strings.HasPrefix(attribute, "__") && strings.HasSuffix(attribute, "__") && len(attribute) > 4 {
		return attribute[2 : len(attribute)-2]
	}
	return attribute
}

// Attributes are those that gcc knows for the target.
func (t Target) Attributes() []string { return slices.Collect(t.section(attributesTable)) }
