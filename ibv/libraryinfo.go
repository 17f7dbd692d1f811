package ibv

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/goverbs/goverbs/clib"
)

// LibraryInfo is what is known of the libibverbs that this process uses.
type LibraryInfo struct {
	// File is the path of the file that was loaded, with all links followed. It
	// may have been replaced since.
	File string

	// Release is the release of rdma-core that the library is of, such as "44.0",
	// by the end of the file's name: libibverbs.so.1.14.44.0. It is "" if the file
	// has another name, and for FreeBSD's, which is of the system's own release.
	Release string

	// Since is the release of rdma-core that the library is of at least, by the
	// functions that it has, and Before is the first one that it lacks a function of.
	// Each is "" if it is not known.
	Since, Before string
}

// Library tells which libibverbs the process uses, and loads it if that was
// not done yet. Devices of package ibvtest are not of it. The error is
// [ErrNoLibrary]. It may be called from any goroutine.
func Library() (LibraryInfo, error) {
	const op = "tell which libibverbs is loaded"
	file, err := cLibrary.File()
	if err != nil {
		return LibraryInfo{}, fmt.Errorf("ibv: %s: %w", op, err)
	}
	has := func(function string) error {
		_, err := (&clib.Function{Library: &cLibrary, Name: function}).Address()
		return err
	}
	if err := has("ibv_get_device_list"); err != nil {
		return LibraryInfo{}, another(op, err)
	}
	info := LibraryInfo{File: file}
	if runtime.GOOS == "linux" { // FreeBSD's has no releases of rdma-core's
		info.Release = releaseOf(file)
		info.Since, info.Before = releasesWith(func(function string) bool { return has(function) == nil })
	}
	return info, nil
}

// String is the release, or what is known of it, and the file.
func (i LibraryInfo) String() string {
	release := "libibverbs"
	switch {
	case i.Release != "":
		release = "rdma-core " + i.Release
	case i.Since != "" && i.Before != "":
		release = fmt.Sprintf("rdma-core %s or newer, before %s", i.Since, i.Before)
	case i.Since != "":
		release = fmt.Sprintf("rdma-core %s or newer", i.Since)
	case i.Before != "":
		release = "rdma-core before " + i.Before
	}
	return fmt.Sprintf("%s (%s)", release, i.File)
}

// another is the error for what was loaded as libibverbs and is not it.
func another(op string, err error) error {
	return fmt.Errorf("ibv: %s: %w: what was loaded is another library, see GOVERBS_LIBIBVERBS: %w", op, ErrNoLibrary, err)
}

// releaseOf is the release in the name of a file, which rdma-core calls
// libibverbs.so.1.INTERFACE.RELEASE, or "".
func releaseOf(file string) string {
	numbers, is := strings.CutPrefix(filepath.Base(file), "libibverbs.so.1.")
	_, release, _ := strings.Cut(numbers, ".")
	if !is || !strings.Contains(release, ".") || strings.Trim(numbers, "0123456789.") != "" {
		return ""
	}
	return release
}

// landmarks are functions by which releases of libibverbs are told from each other,
// with the release that brought them: one for each version of its interface, and the
// one for providers, whose name has its version, where the interface stayed.
var landmarks = []struct{ function, since string }{
	{"ibv_get_pkey_index", "20.0"},
	{"ibv_qp_to_qp_ex", "24.0"},
	{"ibv_reg_mr_iova", "25.0"},
	{"ibv_reg_mr_iova2", "28.0"},
	{"ibv_get_device_index", "30.0"},
	{"ibv_import_device", "31.0"},
	{"_ibv_query_gid_ex", "32.0"},
	{"verbs_register_driver_33", "33.0"},
	{"ibv_reg_dmabuf_mr", "34.0"},
	{"ibv_import_dm", "35.0"},
	{"ibv_query_qp_data_in_order", "36.0"},
	{"verbs_register_driver_57", "57.0"},
	{"ibv_reg_mr_ex", "59.0"},
	{"ibv_query_port_speed", "62.0"},
	{"ibv_alloc_buf", "64.0"},
	{"ibv_create_comp_cntr", "65.0"},
}

// releasesWith is between which releases a library is by the newest landmark it has.
// It need not have those before, because a later one for providers replaces them.
func releasesWith(has func(function string) bool) (since, before string) {
	for i := len(landmarks) - 1; i >= 0; i-- {
		if has(landmarks[i].function) {
			return landmarks[i].since, before
		}
		before = landmarks[i].since
	}
	return "", before
}
