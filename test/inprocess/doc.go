// Package inprocess tests ibv and rdma on devices in the process: on every system, and without a C compiler. What has to be
// proved against C is tested beside the packages themselves, whose calls to C ibvtest would stand in front of.
package inprocess
