//go:build unix

package system

import (
	"slices"
	"syscall"
)

// named is an errno and its name.
type named struct {
	errno syscall.Errno
	name  string
}

// ErrnoName is what C programs call an errno, or "". Where one has two names, it is the one of the two that verbs' manual
// pages use.
func ErrnoName(errno syscall.Errno) string {
	is := func(n named) bool { return n.errno == errno }
	for _, names := range [][]named{everywhere, here} {
		if i := slices.IndexFunc(names, is); i >= 0 {
			return names[i].name
		}
	}
	return ""
}

// everywhere are the names that all systems have. Of two for the same errno, the first counts.
var everywhere = []named{
	{syscall.E2BIG, "E2BIG"},
	{syscall.EACCES, "EACCES"},
	{syscall.EADDRINUSE, "EADDRINUSE"},
	{syscall.EADDRNOTAVAIL, "EADDRNOTAVAIL"},
	{syscall.EAFNOSUPPORT, "EAFNOSUPPORT"},
	{syscall.EAGAIN, "EAGAIN"},
	{syscall.EALREADY, "EALREADY"},
	{syscall.EBADF, "EBADF"},
	{syscall.EBADMSG, "EBADMSG"},
	{syscall.EBUSY, "EBUSY"},
	{syscall.ECANCELED, "ECANCELED"},
	{syscall.ECHILD, "ECHILD"},
	{syscall.ECONNABORTED, "ECONNABORTED"},
	{syscall.ECONNREFUSED, "ECONNREFUSED"},
	{syscall.ECONNRESET, "ECONNRESET"},
	{syscall.EDEADLK, "EDEADLK"},
	{syscall.EDESTADDRREQ, "EDESTADDRREQ"},
	{syscall.EDOM, "EDOM"},
	{syscall.EDQUOT, "EDQUOT"},
	{syscall.EEXIST, "EEXIST"},
	{syscall.EFAULT, "EFAULT"},
	{syscall.EFBIG, "EFBIG"},
	{syscall.EHOSTDOWN, "EHOSTDOWN"},
	{syscall.EHOSTUNREACH, "EHOSTUNREACH"},
	{syscall.EIDRM, "EIDRM"},
	{syscall.EILSEQ, "EILSEQ"},
	{syscall.EINPROGRESS, "EINPROGRESS"},
	{syscall.EINTR, "EINTR"},
	{syscall.EINVAL, "EINVAL"},
	{syscall.EIO, "EIO"},
	{syscall.EISCONN, "EISCONN"},
	{syscall.EISDIR, "EISDIR"},
	{syscall.ELOOP, "ELOOP"},
	{syscall.EMFILE, "EMFILE"},
	{syscall.EMLINK, "EMLINK"},
	{syscall.EMSGSIZE, "EMSGSIZE"},
	{syscall.ENAMETOOLONG, "ENAMETOOLONG"},
	{syscall.ENETDOWN, "ENETDOWN"},
	{syscall.ENETRESET, "ENETRESET"},
	{syscall.ENETUNREACH, "ENETUNREACH"},
	{syscall.ENFILE, "ENFILE"},
	{syscall.ENOBUFS, "ENOBUFS"},
	{syscall.ENODEV, "ENODEV"},
	{syscall.ENOENT, "ENOENT"},
	{syscall.ENOEXEC, "ENOEXEC"},
	{syscall.ENOLCK, "ENOLCK"},
	{syscall.ENOMEM, "ENOMEM"},
	{syscall.ENOMSG, "ENOMSG"},
	{syscall.ENOPROTOOPT, "ENOPROTOOPT"},
	{syscall.ENOSPC, "ENOSPC"},
	{syscall.ENOSYS, "ENOSYS"},
	{syscall.ENOTBLK, "ENOTBLK"},
	{syscall.ENOTCONN, "ENOTCONN"},
	{syscall.ENOTDIR, "ENOTDIR"},
	{syscall.ENOTEMPTY, "ENOTEMPTY"},
	{syscall.ENOTSOCK, "ENOTSOCK"},
	{syscall.ENOTTY, "ENOTTY"},
	{syscall.ENXIO, "ENXIO"},
	{syscall.EOPNOTSUPP, "EOPNOTSUPP"},
	{syscall.EOVERFLOW, "EOVERFLOW"},
	{syscall.EPERM, "EPERM"},
	{syscall.EPFNOSUPPORT, "EPFNOSUPPORT"},
	{syscall.EPIPE, "EPIPE"},
	{syscall.EPROTO, "EPROTO"},
	{syscall.EPROTONOSUPPORT, "EPROTONOSUPPORT"},
	{syscall.EPROTOTYPE, "EPROTOTYPE"},
	{syscall.ERANGE, "ERANGE"},
	{syscall.EREMOTE, "EREMOTE"},
	{syscall.EROFS, "EROFS"},
	{syscall.ESHUTDOWN, "ESHUTDOWN"},
	{syscall.ESOCKTNOSUPPORT, "ESOCKTNOSUPPORT"},
	{syscall.ESPIPE, "ESPIPE"},
	{syscall.ESRCH, "ESRCH"},
	{syscall.ESTALE, "ESTALE"},
	{syscall.ETIMEDOUT, "ETIMEDOUT"},
	{syscall.ETOOMANYREFS, "ETOOMANYREFS"},
	{syscall.ETXTBSY, "ETXTBSY"},
	{syscall.EUSERS, "EUSERS"},
	{syscall.EXDEV, "EXDEV"},
	{syscall.ENOTSUP, "ENOTSUP"},
}
