package main

import (
	"fmt"
	"strings"
)

// A part runs things of one kind, and tells its session what it saw. Its error is what kept it from running; a test that
// failed is a record.
type part struct {
	name, about string
	run         func(*session) error
	// table: it has a table of its own on the page. What others saw is in the table of systems.
	table bool
}

var parts = []part{
	{"own", "this machine's own headers and libibverbs", runOwn, false},
	{"fetch", "nothing: the packages are downloaded that suites wants", runFetch, false},
	{"suites", "the suites of this machine's distribution, unpacked beside each other and entered in the guest", runSuites, false},
	{"headers", "headers that are given, beside the C compilers here", runHeaders, false},
	{"libraries", "libraries that are given", runLibraries, false},
	{"kernels", "this machine's libibverbs on the kernels of a distribution's suites, under QEMU", runKernels, true},
	{"places", "programs that name the folders of their libraries, in a root laid out as Nix does", runPlaces, true},
	{"freebsd", "programs for FreeBSD, and libraries with its layouts that are given", runFreeBSD, true},
	{"musl", "musl: devices in the process on it, and libraries that are given and made for it", runMusl, true},
	{"processors", "other processors with a distribution's libibverbs for them, under qemu-user", runProcessors, true},
	{"page", "nothing: the page is written from what was seen before", func(*session) error { return nil }, false},
}

func aboutParts() string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "  %-12s %s\n", p.name, p.about)
	}
	return b.String()
}
