package cheader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modernc.org/cc/v4"
)

const (
	deepest     = 199     // headers within each other; gcc's limit of 200 counts the source file
	mostHeaders = 1 << 16 // that are read, each time counted
)

// includes follows which header is being read from within which: the C front end
// would read one that includes itself for ever, and knows no #pragma once.
//
// The front end tells when it enters and leaves a header by way of pragmas that
// are put around the header's text.
type includes struct {
	names   []string        // of the headers, by the number in their pragmas
	open    []string        // the headers being read, each from within the one before
	once    map[string]bool // the headers to read no more
	entered int
	parents map[string]string // of a header, the one that included it first
	refused error
}

// restart forgets what was read, for the front end to read it once more.
func (i *includes) restart() { i.open, i.once, i.entered = nil, map[string]bool{}, 0 }

// follow puts the pragmas around the text of a header, its lines numbered as
// before. An empty line keeps them apart from a last line that is to be continued.
func (i *includes) follow(header string, text []byte) []byte {
	i.names = append(i.names, header)
	around := fmt.Appendf(nil, "#pragma %s %d\n#line 1\n", enter, len(i.names)-1)
	return append(append(around, text...), "\n\n#pragma "+leave+"\n"...)
}

const (
	enter = "__goverbs_enter"
	leave = "__goverbs_leave"
)

// pragma takes the words of a pragma, at least one, when the front end comes to it.
func (i *includes) pragma(words []cc.Token) error {
	switch {
	case len(words) == 2 && words[0].SrcStr() == enter:
		number, err := strconv.Atoi(words[1].SrcStr())
		if err != nil || number < 0 || number >= len(i.names) {
			return fmt.Errorf("the pragma %s is the generator's own", enter)
		}
		return i.enter(i.names[number])
	case len(words) == 1 && len(i.open) > 0 && words[0].SrcStr() == leave:
		i.open = i.open[:len(i.open)-1]
	case len(i.open) > 0 && words[0].SrcStr() == "once":
		i.once[i.open[len(i.open)-1]] = true
	}
	return nil
}

func (i *includes) enter(header string) error {
	i.entered++
	switch {
	case i.refused != nil || i.once[header]:
		return cc.SkipSource
	case len(i.open) == deepest:
		i.refused = i.tooDeep(header)
		return cc.SkipSource
	case i.entered > mostHeaders:
		i.refused = fmt.Errorf("%s: headers were included more than %d times; does one include itself?", header, mostHeaders)
		return cc.SkipSource
	}
	if _, known := i.parents[header]; !known && len(i.open) > 0 {
		i.parents[header] = i.open[len(i.open)-1]
	}
	i.open = append(i.open, header)
	return nil
}

// tooDeep names the way by which a header comes to itself, or else how the
// deepest one is reached.
func (i *includes) tooDeep(header string) error {
	for at := len(i.open) - 1; at >= 0; at-- {
		if i.open[at] == header {
			chain := strings.Join(append(slices.Clone(i.open[at:]), header), " > ")
			return fmt.Errorf("%s includes itself without an end, %d times within each other: %s; it needs an include guard around the #include", header, deepest, chain)
		}
	}
	return fmt.Errorf("headers are included more than %d deep: %s > ... > %s > %s", deepest, i.open[0], i.open[len(i.open)-1], header)
}
