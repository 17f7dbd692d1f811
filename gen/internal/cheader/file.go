package cheader

import (
	"bytes"
	"io/fs"
	"time"
)

// file is a header's text as an fs.File.
type file struct {
	*bytes.Reader
	name string
	size int64
}

func (f *file) Stat() (fs.FileInfo, error) { return info{f}, nil }
func (f *file) Close() error               { return nil }

// info describes a file.
type info struct{ file *file }

func (i info) Name() string       { return i.file.name }
func (i info) Size() int64        { return i.file.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
