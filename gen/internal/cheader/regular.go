package cheader

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// largestHeader is how many bytes a header may have.
const largestHeader = 64 << 20

// readRegular reads a header. What is no file, such as a pipe or a device, may
// have no end or keep the reader waiting, and is refused.
func readRegular(place string) ([]byte, error) {
	info, err := os.Stat(place)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: place, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file (%s); a header must be one", place, info.Mode().Type())
	}
	f, err := os.Open(place)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largestHeader+1))
	if err == nil && len(text) > largestHeader {
		err = fmt.Errorf("%s is larger than %d MiB; is it a header?", place, largestHeader>>20)
	}
	return text, err
}
