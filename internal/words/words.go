// Package words reads lines of words of the form name=value, which is how peers and remote buffers are written.
package words

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Read reads words of the form name=value into what fields has for the
// names: all of them, each once. A field is a pointer to an unsigned integer or an
// encoding.TextUnmarshaler.
func Read(text []byte, fields map[string]any) error {
	missing := maps.Clone(fields)
	for word := range strings.FieldsSeq(string(text)) {
		name, value, ok := strings.Cut(word, "=")
		field := missing[name]
		switch {
		case !ok:
			return fmt.Errorf("%.100q has no equals sign", word)
		case fields[name] == nil:
			return fmt.Errorf("nothing is called %.100q: it has %s", name, fieldNames(fields))
		case field == nil:
			return fmt.Errorf("%s is there twice", name)
		}
		if err := readValue(value, field); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		delete(missing, name)
	}
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s", fieldNames(missing))
	}
	return nil
}

func fieldNames(fields map[string]any) string {
	return strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

// readValue reads a value by the type of its field.
func readValue(value string, field any) error {
	switch field := field.(type) {
	case *uint16:
		return readNumber(value, 16, func(n uint64) { *field = uint16(n) })
	case *uint32:
		return readNumber(value, 32, func(n uint64) { *field = uint32(n) })
	case *uint64:
		return readNumber(value, 64, func(n uint64) { *field = n })
	default:
		return field.(encoding.TextUnmarshaler).UnmarshalText([]byte(value))
	}
}

func readNumber(value string, bits int, set func(uint64)) error {
	n, err := strconv.ParseUint(value, 0, bits)
	var syntax *strconv.NumError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%.100q: %w", value, syntax.Err)
	}
	set(n)
	return nil
}
