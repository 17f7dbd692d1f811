//go:build !freebsd

package ibv

import (
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/goverbs/goverbs/internal/dl"
)

// Soft-RoCE's extended verbs had faults, so that one has to know which release of
// rdma-core a function of its is from. Its file is named after the interface
// between libibverbs and its providers, which changes from time to time; the file of
// libibverbs has the release itself, unless somebody named it otherwise.

var (
	rxeFile     = regexp.MustCompile(`^librxe-rdmav(\d+)\.so$`)
	libraryFile = regexp.MustCompile(`^libibverbs\.so\.1\.\d+\.(\d+)\.(\d+)$`)
)

// numbers are what is at the end of a path, if it is as the expression says.
func numbers(file *regexp.Regexp, path string) (numbers [2]int, ok bool) {
	found := file.FindStringSubmatch(filepath.Base(path))
	if found == nil {
		return numbers, false
	}
	for i, text := range found[1:] {
		n, err := strconv.Atoi(text)
		if err != nil {
			return numbers, false
		}
		numbers[i] = n
	}
	return numbers, true
}

// isRxe reports whether a function is of Soft-RoCE's.
func isRxe(fn uintptr) bool {
	_, is := numbers(rxeFile, dl.FileOf(fn))
	return is
}

// rxeBefore64 reports whether a function is from a Soft-RoCE before 64.0, which
// takes all entries of a list for as long as the first one, and sends nothing of
// inline data that is a list. The last patches of older releases mend that, but
// their files do not tell.
func rxeBefore64(fn uintptr) bool {
	number, isRxe := numbers(rxeFile, dl.FileOf(fn))
	return isRxe && number[0] < 64
}

// rxePolls says how to end the polls of a Soft-RoCE that a function is from.
//
// Before 55.0, next_poll lets go of the queue's lock when there is nothing more, and
// has done already what end_poll does; if that follows, it takes away a completion
// that has not come yet, and the lock from whoever has it. From then on, only the
// lock is lost too early, so that others may find the same completion. 59.0 is
// right, and so are some of the last patches of older releases, while others have
// one fault of the two. What all of them can do is to take completions one by one.
func rxePolls(fn uintptr) (nextEnds, single bool) {
	library, _ := symbolQPToQPEx.Address() // without a library, it has no file
	path := dl.FileOf(library)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return rxePollsOf(dl.FileOf(fn), path)
}

// rxePollsOf is rxePolls by the files of the provider and the library.
func rxePollsOf(provider, library string) (nextEnds, single bool) {
	number, isRxe := numbers(rxeFile, provider)
	if !isRxe || number[0] >= 59 {
		return false, false
	}
	release, ok := numbers(libraryFile, library)
	// No release was patched so before its fourth patch.
	nextEnds = number[0] < 57 && ok && release[0] < 55 && release[1] < 4
	return nextEnds, !nextEnds
}
