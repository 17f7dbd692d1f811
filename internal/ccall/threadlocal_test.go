//go:build linux && (arm64 || loong64 || ppc64le || riscv64 || s390x)

package ccall

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Wherever the search is made, it finds the same place, and what is there follows the goroutine.
func TestCurrentGoroutineIsFound(t *testing.T) {
	mem, err := openMemory()
	require.NoError(t, err)
	defer mem.close()
	for range 100 {
		offset, found := findCurrent(mem)
		require.True(t, found)
		if Direct() {
			require.Equal(t, currentOffset, offset)
		}
	}
	mainThread(func() {
		_, found := findCurrent(mem)
		require.True(t, found)
		g, _ := probe()
		require.Empty(t, holdingCurrent(mem, []uintptr{currentOffset + wordSize}))
		require.Equal(t, g, mem.word(threadPointer()+currentOffset))
	})
}
