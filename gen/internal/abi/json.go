package abi

import (
	"encoding/json"
	"fmt"
	"io"
)

// Write writes the facts as indented JSON.
func (f *Facts) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return fmt.Errorf("writing facts: %w", err)
	}
	return nil
}

// Read reads facts and checks that they are of a schema that it understands.
func Read(r io.Reader) (*Facts, error) {
	var f Facts
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	for _, rec := range f.Records {
		rec.Flat = Flatten(rec)
	}
	return &f, nil
}
