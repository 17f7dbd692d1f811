package main

import (
	"fmt"
	"io"
)

// An answer is what a command prints. It keeps the first error of writing it, for
// commands that print line by line and would end well with half an answer.
type answer struct {
	io.Writer
	err error
}

func (a *answer) Write(text []byte) (int, error) {
	n, err := a.Writer.Write(text)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("printing the answer: %w", err)
	}
	return n, err
}
