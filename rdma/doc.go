// Package rdma is what programs use RDMA devices with: handles that know their
// lifetime, completions and events that are waited for in Go's way, connections,
// and rings. It stands on package ibv, which is C's verbs as they are.
package rdma
