package main

import (
	"fmt"
	"io"
	"strings"
)

// context is how many lines around a difference are shown, and mostLines how
// many lines of a file's differences: who needs more has other tools.
const (
	context   = 3
	mostLines = 60
)

// edit is one line of a difference: ' ' in both, '-' gone, '+' new.
type edit struct {
	mark byte
	line string
}

// printDiff shows how two texts differ, as hunks with some lines around them.
func printDiff(w io.Writer, name, have, want string) {
	fmt.Fprintf(w, "--- %s\n+++ %s, as it ought to be\n", name, name)
	edits := lineDiff(lines(have), lines(want))
	old, shown, skipping := 1, 0, true
	for i, e := range edits {
		if near(edits, i) {
			if skipping {
				fmt.Fprintf(w, "@@ line %d @@\n", old)
				skipping = false
			}
			if shown++; shown > mostLines {
				fmt.Fprintln(w, "... and more")
				return
			}
			fmt.Fprintf(w, "%c%s\n", e.mark, e.line)
		} else {
			skipping = true
		}
		if e.mark != '+' {
			old++
		}
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// near reports whether a change is within reach of an edit.
func near(edits []edit, i int) bool {
	for j := max(0, i-context); j <= min(len(edits)-1, i+context); j++ {
		if edits[j].mark != ' ' {
			return true
		}
	}
	return false
}

// lineDiff finds what changed from a to b. It looks for the lines that are
// unique in both, as a patience diff does, and is exact between them.
func lineDiff(a, b []string) []edit {
	var out []edit
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		out = append(out, edit{' ', a[n]})
		n++
	}
	a, b = a[n:], b[n:]
	m := 0
	for m < len(a) && m < len(b) && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	tail := a[len(a)-m:]
	out = append(out, middleDiff(a[:len(a)-m], b[:len(b)-m])...)
	for _, l := range tail {
		out = append(out, edit{' ', l})
	}
	return out
}

func middleDiff(a, b []string) []edit {
	if i, j, ok := anchor(a, b); ok {
		out := lineDiff(a[:i], b[:j])
		out = append(out, edit{' ', a[i]})
		return append(out, lineDiff(a[i+1:], b[j+1:])...)
	}
	var out []edit
	for _, l := range a {
		out = append(out, edit{'-', l})
	}
	for _, l := range b {
		out = append(out, edit{'+', l})
	}
	return out
}

// anchor finds a line that is there once on both sides, the one nearest to the
// middle so that the halves are small.
func anchor(a, b []string) (i, j int, ok bool) {
	where := map[string]int{}
	for k, l := range b {
		if _, twice := where[l]; twice {
			where[l] = -1
		} else {
			where[l] = k
		}
	}
	count := map[string]int{}
	for _, l := range a {
		count[l]++
	}
	best := len(a) + 1
	for k, l := range a {
		at, there := where[l]
		if d := abs(k - len(a)/2); there && at >= 0 && count[l] == 1 && d < best {
			i, j, ok, best = k, at, true, d
		}
	}
	return i, j, ok
}

func abs(n int) int { return max(n, -n) }
