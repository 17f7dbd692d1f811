//go:build !freebsd && !race

package ibvtest

import (
	"sync/atomic"
	"unsafe"
)

// moved is copy.
func moved(to, from piece) int { return copy(to, from) }

// storeLast stores a word for whoever looks at it until it changes.
func storeLast(at unsafe.Pointer, word uint64) { atomic.StoreUint64((*uint64)(at), word) }
