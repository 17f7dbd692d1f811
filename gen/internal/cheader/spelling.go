package cheader

import "regexp"

// blankBehind is the blank that compilers overlook between a backslash and the end
// of the line that it joins to the next one.
var blankBehind = regexp.MustCompile(`\\[ \t\f\v\x00]+(\r?\n)`)

// joined takes away the blank behind backslashes that continue a line.
func joined(text []byte) []byte { return blankBehind.ReplaceAll(text, []byte(`\${1}`)) }
