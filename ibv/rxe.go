//go:build !freebsd

package ibv

import (
	"path"
	"strconv"
	"strings"

	"github.com/goverbs/goverbs/internal/dl"
)

// rxeBefore64 reports whether a provider's function is Soft-RoCE's of a rdma-core
// before 64.0. Until then, its extended verbs had faults that lose data:
//
//   - wr_set_sge_list took all entries for as long as the first one.
//   - wr_set_inline_data_list sent nothing.
//   - next_poll let go of the completion queue's lock when there were no more
//     completions, and end_poll then did so again, though somebody else may have
//     had it; up to 56, it took away a completion that had not come yet, too.
//
// The last was mended in 61.0. But a provider's file is named after its interface
// to the library only, which has one number from 59.0 up to 63.
func rxeBefore64(fn uintptr) bool {
	number, ok := strings.CutPrefix(path.Base(dl.FileOf(fn)), "librxe-rdmav")
	number, isLibrary := strings.CutSuffix(number, ".so")
	release, err := strconv.Atoi(number)
	return ok && isLibrary && err == nil && release < 64
}
