package headers

import "strings"

// Packages says which package has a header, by distribution. It is "" for a
// header of neither RDMA software nor the kernel.
func Packages(header string) string {
	debian := "libibverbs-dev"
	switch {
	case !strings.HasPrefix(header, "infiniband/") && !strings.HasPrefix(header, "rdma/") && !strings.HasPrefix(header, "linux/"):
		return ""
	case header == "rdma/rdma_cma.h", header == "rdma/rdma_cma_abi.h", header == "rdma/rdma_verbs.h", header == "rdma/rsocket.h":
		debian = "librdmacm-dev"
	case strings.HasPrefix(header, "infiniband/umad"), strings.HasPrefix(header, "infiniband/mad"):
		debian = "libibumad-dev and libibmad-dev"
	case strings.HasPrefix(header, "rdma/"), strings.HasPrefix(header, "linux/"):
		return "Debian, Ubuntu: linux-libc-dev; Fedora, CentOS Stream: kernel-headers; openSUSE: linux-glibc-devel; " +
			"Alpine: linux-headers; Arch: linux-api-headers; NixOS: linuxHeaders; FreeBSD: has none"
	}
	return "Debian, Ubuntu: " + debian + "; Fedora, CentOS Stream, openSUSE: rdma-core-devel; Alpine: rdma-core-dev; " +
		"Arch, NixOS: rdma-core; FreeBSD: the base system"
}
