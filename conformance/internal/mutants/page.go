package main

import (
	"fmt"
	"strings"
)

// text is the outcomes as a page.
func text(outcomes []outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Faults on purpose

What would the tests notice? `+"`make mutants`"+` breaks ibvtest and the binding in %d ways, one at a time, and runs the
conformance scenarios, the tests of ibvtest and random sequences against the model. It writes this page. Some test has to
fail each time, and the page names the one that did. Where none does, a test is missing, and is written. `+"`make test`"+`
tries some of them each time, drawn by a seed that it prints.

| what is broken | where | which test noticed |
|---|---|---|
`, len(outcomes))
	for _, o := range outcomes {
		fmt.Fprintf(&b, "| %s | [%s](../%s) | %s |\n", o.name, o.file, o.file, strings.ReplaceAll(o.noticed, "|", "\\|"))
	}
	return b.String()
}
