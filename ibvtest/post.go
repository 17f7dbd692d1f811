//go:build !freebsd

package ibvtest

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// servePost serves a post to an object.
func servePost[T any](name string, post func(object *T, list unsafe.Pointer) (result, errno int32, bad uintptr)) ibv.FuncPtr {
	return serve(ccall.Served{
		Name: name,
		Post: func(object, list unsafe.Pointer) (int32, int32, uintptr) { return post(ofPointer[T](object), list) },
	})
}

var (
	opPostSend = servePost("post_send", (*queuePair).postSend)
	opPostRecv = servePost("post_recv", (*queuePair).postRecv)
)

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		ops := &v.Context.Ops
		ops.PostSend, ops.PostRecv = opPostSend, opPostRecv
	})
}
