package main

import (
	"io"

	"github.com/goverbs/goverbs/gen/internal/casserts"
)

const aboutAssert = `Reads a header for one target (amd64 and the system of the headers unless -target
says otherwise) and prints a C file of static assertions for all that Go was told
of it. Compile it with the C compiler that you trust: it compiles exactly when they
agree.

` + aboutStatus

func runAssert(args []string, stdout io.Writer) error {
	var in input
	fs := newFlags("assert", "", aboutAssert, &in)
	in.foldersFlag(fs)
	in.targetFlag(fs)
	if err := parseFlags(fs, args, stdout); err != nil {
		return err
	}
	f, err := in.readOne()
	if err != nil {
		return err
	}
	return casserts.Write(stdout, f)
}
