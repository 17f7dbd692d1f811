package headers

import (
	"slices"
	"strings"
)

// debianPackages says which headers of rdma-core each of Debian's packages has.
var debianPackages = map[string][]string{
	"libibverbs-dev": {
		"infiniband/arch.h", "infiniband/efadv.h", "infiniband/hnsdv.h", "infiniband/ib_user_ioctl_verbs.h", "infiniband/ionic_dv.h",
		"infiniband/manadv.h", "infiniband/mlx4dv.h", "infiniband/mlx5_api.h", "infiniband/mlx5_user_ioctl_verbs.h", "infiniband/mlx5dv.h",
		"infiniband/opcode.h", "infiniband/sa-kern-abi.h", "infiniband/sa.h", "infiniband/tm_types.h", "infiniband/verbs.h", "infiniband/verbs_api.h",
	},
	"librdmacm-dev":    {"infiniband/ib.h", "rdma/rdma_cma.h", "rdma/rdma_cma_abi.h", "rdma/rdma_verbs.h", "rdma/rsocket.h"},
	"libibmad-dev":     {"infiniband/mad.h", "infiniband/mad_osd.h"},
	"libibnetdisc-dev": {"infiniband/ibnetdisc.h", "infiniband/ibnetdisc_osd.h"},
	"libibumad-dev": {
		"infiniband/umad.h", "infiniband/umad_cm.h", "infiniband/umad_sa.h", "infiniband/umad_sa_mcm.h", "infiniband/umad_sm.h",
		"infiniband/umad_str.h", "infiniband/umad_types.h",
	},
}

// kernelHeaders are the RDMA headers of the kernel.
var kernelHeaders = []string{
	"bnxt_re-abi.h", "cxgb4-abi.h", "efa-abi.h", "erdma-abi.h", "hfi/hfi1_ioctl.h", "hfi/hfi1_user.h", "hns-abi.h", "ib_user_ioctl_cmds.h",
	"ib_user_ioctl_verbs.h", "ib_user_mad.h", "ib_user_sa.h", "ib_user_verbs.h", "irdma-abi.h", "mana-abi.h", "mlx4-abi.h", "mlx5-abi.h",
	"mlx5_user_ioctl_cmds.h", "mlx5_user_ioctl_verbs.h", "mthca-abi.h", "ocrdma-abi.h", "qedr-abi.h", "rdma_netlink.h", "rdma_user_cm.h",
	"rdma_user_ioctl.h", "rdma_user_ioctl_cmds.h", "rdma_user_rxe.h", "rvt-abi.h", "siw-abi.h", "vmw_pvrdma-abi.h",
}

// Packages says, by distribution, which package has a header. Of one that none
// is known to have but whose folder is that of RDMA software's or the kernel's
// headers, it names the packages of those, and known is false. It is "" for any
// other header.
func Packages(header string) (packages string, known bool) {
	for debian, names := range debianPackages {
		if slices.Contains(names, header) {
			return rdmaCore(debian), true
		}
	}
	folder, name, _ := strings.Cut(header, "/")
	switch folder {
	case "infiniband":
		return rdmaCore("libibverbs-dev"), false
	case "rdma", "linux":
		return "Debian, Ubuntu: linux-libc-dev; Fedora, CentOS Stream: kernel-headers; openSUSE: linux-glibc-devel; " +
			"Alpine: linux-headers; Arch: linux-api-headers; NixOS: linuxHeaders; FreeBSD: has none", folder == "rdma" && slices.Contains(kernelHeaders, name)
	}
	return "", false
}

// rdmaCore is the packages of rdma-core, of which Debian has several.
func rdmaCore(debian string) string {
	return "Debian, Ubuntu: " + debian + "; Fedora, CentOS Stream, openSUSE: rdma-core-devel; Alpine: rdma-core-dev; " +
		"Arch, NixOS: rdma-core; FreeBSD: the base system"
}
