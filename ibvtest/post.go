//go:build !freebsd

package ibvtest

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// postFunc is one of posts.
type postFunc = func(list unsafe.Pointer) (result, errno int32, bad uintptr)

// servePost serves a post to an object.
func servePost(name string, of func(object unsafe.Pointer) postFunc) uintptr {
	return ccall.Serve(ccall.Served{
		Name:     name,
		Post:     func(object, list unsafe.Pointer) (int32, int32, uintptr) { return of(object)(list) },
		BindPost: func(object unsafe.Pointer) func(unsafe.Pointer) (int32, int32, uintptr) { return of(object) },
	})
}

var (
	opPostSend = servePost("post_send", func(qp unsafe.Pointer) postFunc { return ofPointer[queuePair](qp).postSend })
	opPostRecv = servePost("post_recv", func(qp unsafe.Pointer) postFunc { return ofPointer[queuePair](qp).postRecv })
)

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		ops := &v.Context.Ops
		ops.PostSend, ops.PostRecv = ibv.ContextOpsPostSendFunc(opPostSend), ibv.ContextOpsPostRecvFunc(opPostRecv)
	})
}
