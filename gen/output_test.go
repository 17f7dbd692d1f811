//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A command whose answer is lost has failed, whatever the answer was.
func TestFullDiskIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, args := range [][]string{{"check", "-o", "../ibv"}, {"diff", "44.0", "65.0"}, {"diff", "-json", "44.0", "65.0"}, {"facts"}, {"assert"}, {"generate", "-o", t.TempDir()}} {
		err := run(args, full)
		require.ErrorIs(t, err, syscall.ENOSPC, args)
		assert.ErrorContains(t, err, "printing the answer: ")
		if args[0] == "check" || args[0] == "diff" {
			assert.Equal(t, notCompared, exitStatus(args, err), args)
		} else {
			assert.Equal(t, 1, exitStatus(args, err), args)
		}
	}
}

// What -o names stays what it is: a mode, a link, a pipe.
func TestReplaceFileKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) string {
		text, err := os.ReadFile(path(name))
		require.NoError(t, err)
		return string(text)
	}
	require.NoError(t, replaceFile(path("new"), []byte("1")))
	assert.Equal(t, "1", read("new"))

	require.NoError(t, os.WriteFile(path("secret"), []byte("old and longer"), 0o600))
	require.NoError(t, os.Symlink("secret", path("link")))
	require.NoError(t, replaceFile(path("link"), []byte("2")))
	assert.Equal(t, "2", read("secret"))
	info, err := os.Lstat(path("secret"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())

	require.NoError(t, os.Symlink("later", path("ahead")))
	require.NoError(t, replaceFile(path("ahead"), []byte("3")))
	assert.Equal(t, "3", read("later"))
	for _, link := range []string{"link", "ahead"} {
		info, err := os.Lstat(path(link))
		require.NoError(t, err)
		assert.Equal(t, os.ModeSymlink, info.Mode().Type(), link)
	}

	require.NoError(t, syscall.Mkfifo(path("pipe"), 0o640))
	got := make(chan string)
	go func() {
		text, err := os.ReadFile(path("pipe"))
		assert.NoError(t, err)
		got <- string(text)
	}()
	require.NoError(t, replaceFile(path("pipe"), []byte("4")))
	info, err = os.Lstat(path("pipe"))
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe|0o640, info.Mode())
	assert.Equal(t, "4", <-got)
}
