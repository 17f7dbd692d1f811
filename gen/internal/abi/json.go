package abi

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
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
	if f.Schema != Schema {
		return nil, fmt.Errorf("reading facts: schema is %q, this generator understands %q", f.Schema, Schema)
	}
	return &f, nil
}

// ReadFile reads facts from a file, compressed when its name ends in ".gz".
func ReadFile(name string) (*Facts, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading facts: %w", err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("reading facts from %s: %w", name, err)
		}
		defer z.Close()
		r = z
	}
	f, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}
