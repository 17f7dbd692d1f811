package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// stderr is where a command says what its answer does not hold.
var stderr io.Writer = os.Stderr

// notes are what to say of several targets, each once.
type notes struct {
	order   []string
	targets map[string][]string
}

func (n *notes) add(text, target string) {
	if n.targets == nil {
		n.targets = map[string][]string{}
	}
	if n.targets[text] == nil {
		n.order = append(n.order, text)
	}
	if !slices.Contains(n.targets[text], target) {
		n.targets[text] = append(n.targets[text], target)
	}
}

// print prints the notes, and of how many targets each is where it is not of all.
func (n *notes) print(w io.Writer, all int) {
	for _, text := range n.order {
		where := ""
		if on := n.targets[text]; len(on) < all {
			where = " (" + strings.Join(on, ", ") + ")"
		}
		fmt.Fprintf(w, "gen: left out: %s%s\n", text, where)
	}
}
