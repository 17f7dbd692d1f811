package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed leftout.txt
var leftOutText string

// leftOut is what Go has no call for.
type leftOut struct {
	name   string
	kind   kind   // macro, or "" for what the facts have
	reason string // a phrase
}

// readLeftOut reads lines of a name and a reason. A name with parentheses is a macro's. Lines that begin with a number
// sign are comments.
func readLeftOut(text string) (all []leftOut, err error) {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		l := leftOut{name: name, reason: strings.TrimSpace(reason)}
		if l.reason == "" {
			return nil, fmt.Errorf("leftout.txt:%d: %s has no reason", i+1, name)
		}
		if name, isMacro := strings.CutSuffix(name, "()"); isMacro {
			l.name, l.kind = name, macro
		}
		all = append(all, l)
	}
	return all, nil
}
