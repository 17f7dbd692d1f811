//go:build !goverbs_check

package rdma

const builtChecked = false
