//go:build unix

package cheader_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is no regular file is refused, and not waited for or read without an end.
func TestHeadersAreRegularFiles(t *testing.T) {
	dir := t.TempDir()
	header := filepath.Join(dir, "x.h")
	require.NoError(t, syscall.Mkfifo(header, 0o600))
	_, err := parseIn(dir)
	assert.ErrorContains(t, err, header+" is not a regular file")
	require.NoError(t, os.Remove(header))
	require.NoError(t, os.Symlink("/dev/zero", header))
	_, err = parseIn(dir)
	assert.ErrorContains(t, err, header+" is not a regular file")
	require.NoError(t, os.Remove(header))
	require.NoError(t, os.WriteFile(header, nil, 0o600))
	require.NoError(t, os.Truncate(header, 64<<20+1))
	_, err = parseIn(dir)
	assert.ErrorContains(t, err, header+" is larger than 64 MiB")
}
