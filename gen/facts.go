package main

import "io"

const aboutFacts = `Reads a header for one target (linux/amd64 unless -target says otherwise) and
prints what it declares as JSON: records with sizes, alignments and offsets,
enumerations, integer macros, functions.`

func runFacts(args []string, stdout io.Writer) error {
	var in input
	fs := newFlags("facts", aboutFacts, &in)
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	f, err := in.readOne()
	if err != nil {
		return err
	}
	return f.Write(stdout)
}
