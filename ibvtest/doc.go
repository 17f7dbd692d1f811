// Package ibvtest has RDMA devices in the process, for tests without hardware.
package ibvtest
