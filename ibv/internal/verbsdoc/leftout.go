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
	kind   kind   // "" for what the facts have
	reason string // a phrase
}

// readLeftOut reads lines of a name and a reason. A name with parentheses is a macro's; one of what
// only the preprocessor can show besides has its kind and a colon in front. Lines that begin with a number
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
		for _, k := range []kind{exported, inline} {
			if name, has := strings.CutPrefix(name, string(k)+":"); has {
				l.name, l.kind = name, k
			}
		}
		all = append(all, l)
	}
	return all, nil
}
