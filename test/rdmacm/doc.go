// Package rdmacm is librdmacm as the generator binds it: rdma/rdma_cma.h with all its
// types, constants and functions, and nothing by hand. Its tests connect queue pairs
// with it on a real device. A package of your own is made in the same way:
//
//	go tool gen generate -header rdma/rdma_cma.h -library librdmacm.so.1 -package rdmacm -o ./rdmacm
package rdmacm

//go:generate go run ../../gen generate -header rdma/rdma_cma.h -package rdmacm -library librdmacm.so.1
