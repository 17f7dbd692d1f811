package heappages

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Memory begins a page and is zero, and is taken back once, as it was given.
func TestPages(t *testing.T) {
	var pages Pages
	require.False(t, pages.Free(nil))
	for _, size := range []int{1, os.Getpagesize(), 3*os.Getpagesize() + 5} {
		memory := pages.Alloc(size)
		require.Equal(t, make([]byte, size), memory)
		require.Equal(t, size, cap(memory))
		require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(memory)))%uintptr(os.Getpagesize()))
		require.False(t, pages.Free(memory[:size-1]), "a part of it")
		require.False(t, pages.Free(memory[:size-1:size-1]), "a part of it")
		require.True(t, pages.Free(memory))
		require.False(t, pages.Free(memory), "the second time")
	}
}
