//go:build !freebsd

package ibvtest

import (
	"strings"
	"syscall"
)

// failing is what a function returns, by the man page's name, that fails: most the errno value, those that return an object NULL, and some -1, with
// the reason in errno, or its negative.
func failing(name string, reason syscall.Errno) (result uintptr, errno syscall.Errno) {
	name = strings.TrimPrefix(name, "ibv_")
	for _, begin := range []string{"alloc_", "create_", "import_", "open_", "reg_"} {
		if strings.HasPrefix(name, begin) {
			return null, reason
		}
	}
	switch name {
	case "get_async_event", "get_cq_event", "get_pkey_index", "init_ah_from_wc", "query_gid", "query_pkey", "rereg_mr",
		"dm_export_dmabuf_fd", "export_buf_dmabuf_fd":
		return failed, reason
	case "query_gid_table":
		return minus(reason), 0
	}
	return uintptr(reason), 0
}

// cannotFail reports whether a function has no way to say that it has failed.
func cannotFail(name string) bool {
	switch name {
	case "ibv_ack_cq_events", "ibv_get_device_guid", "ibv_get_device_index", "ibv_get_device_name", "ibv_query_qp_data_in_order",
		"ibv_free_buf", "ibv_unimport_pd", "ibv_unimport_mr", "ibv_unimport_dm":
		return true
	}
	return false
}
