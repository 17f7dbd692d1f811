// Package ibv is InfiniBand verbs for Go: it drives RDMA devices, InfiniBand
// and RoCE alike, through the machine's own libibverbs, without cgo.
package ibv

//go:generate go run ../gen generate -header infiniband/verbs.h -package ibv
