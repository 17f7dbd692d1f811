//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/internal/ccall"
)

// unsupported are the functions that no device of ours has, as libibverbs has them for a provider that lacks them. With them
// goes what only their objects could be handed to.
var unsupported = map[string]symbol{
	// Objects of other processes.
	"ibv_import_pd":   noObject,
	"ibv_import_mr":   noObject,
	"ibv_import_dm":   noObject,
	"ibv_unimport_pd": nothing,
	"ibv_unimport_mr": nothing,
	"ibv_unimport_dm": nothing,
	// Memory of other devices.
	"ibv_dm_export_dmabuf_fd":  noNumber,
	"ibv_alloc_dmah":           noObject,
	"ibv_dealloc_dmah":         notSupported,
	"ibv_alloc_buf":            noObject,
	"ibv_free_buf":             nothing,
	"ibv_export_buf_dmabuf_fd": noNumber,
	"ibv_reg_buf_mr":           noObject,
	// Counters of completions.
	"_ibv_query_comp_cntr_caps": notSupported,
	"ibv_create_comp_cntr":      noObject,
	"ibv_destroy_comp_cntr":     notSupported,
	"ibv_set_comp_cntr":         notSupported,
	"ibv_set_err_comp_cntr":     notSupported,
	"ibv_inc_comp_cntr":         notSupported,
	"ibv_inc_err_comp_cntr":     notSupported,
	"ibv_read_comp_cntr":        notSupported,
	"ibv_read_err_comp_cntr":    notSupported,
	"ibv_qp_attach_comp_cntr":   notSupported,
	// Extensions to connections.
	"ibv_set_ece":   notSupported,
	"ibv_query_ece": notSupported,
	// No promise of an order, which is 0.
	"ibv_query_qp_data_in_order": nothing,
}

func notSupported(ccall.Args) (uintptr, syscall.Errno) { return uintptr(syscall.EOPNOTSUPP), 0 }

func noObject(ccall.Args) (uintptr, syscall.Errno) { return null, syscall.EOPNOTSUPP }

func noNumber(ccall.Args) (uintptr, syscall.Errno) { return failed, syscall.EOPNOTSUPP }

func nothing(ccall.Args) (uintptr, syscall.Errno) { return 0, 0 }
