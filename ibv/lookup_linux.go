package ibv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/goverbs/goverbs/internal/system"
)

// host is where a machine shows its RDMA devices.
type host struct {
	sys     string        // the kernel's devices
	dev     string        // their character devices
	library func() string // the file of libibverbs
}

var thisHost = host{sys: "/sys/class", dev: "/dev/infiniband", library: func() string {
	file, _ := cLibrary.File() // of one that is not there nothing is told
	return file
}}

// exhausted says whether the process has no file descriptors left. libibverbs
// then finds nothing, and says no more than that.
func exhausted() *fault {
	const needed = 3 // libibverbs has as many open at a time while it looks for devices
	for range needed {
		fd, err := syscall.Open("/", system.OPath|syscall.O_CLOEXEC, 0)
		if err == nil {
			defer syscall.Close(fd)
			continue
		}
		switch errno := errnoOf(err); errno {
		case syscall.EMFILE:
			var limit syscall.Rlimit
			if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
				return nil
			}
			return &fault{errno, fmt.Sprintf("the process has used up its %d file descriptors: close some, or raise the limit (ulimit -n) and start it again, for libibverbs looks for its providers once", limit.Cur)}
		case syscall.ENFILE:
			return &fault{errno, "the machine has no file descriptors left: see /proc/sys/fs/file-max"}
		}
	}
	return nil
}

// devices is the kernel's RDMA devices, whether libibverbs lists them or not.
func (h host) devices() []string {
	entries, err := os.ReadDir(filepath.Join(h.sys, "infiniband"))
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// unlisted says why libibverbs does not list a device that the kernel has.
func (h host) unlisted(device string) *fault {
	if f := h.closed(device); f != nil {
		return f
	}
	return &fault{syscall.ENODEV, fmt.Sprintf("the kernel has %s, and libibverbs no provider for it%s; install the package with the providers (Debian: ibverbs-providers, others: rdma-core or libibverbs) and start again", device, h.providers())}
}

// closed says why the character device of a device cannot be opened, or nothing
// if it can.
func (h host) closed(device string) *fault {
	name, numbers := h.uverbs(device)
	if name == "" {
		return &fault{syscall.ENODEV, fmt.Sprintf("the kernel has %s, but nothing for programs to use it by: load ib_uverbs (modprobe ib_uverbs)", device)}
	}
	node := filepath.Join(h.dev, name)
	info, err := os.Stat(node)
	if err == nil {
		if found := deviceNumbers(info); found != numbers {
			return &fault{syscall.ENXIO, fmt.Sprintf("%s is not the device %s of the kernel's %s, but %s: make it again (mknod), or let udev or the container's runtime do it", node, numbers, device, found)}
		}
		var fd int
		if fd, err = syscall.Open(node, syscall.O_RDWR|syscall.O_CLOEXEC, 0); err == nil {
			syscall.Close(fd)
			return nil
		}
	}
	switch errno := errnoOf(err); errno {
	case syscall.ENOENT:
		return &fault{errno, fmt.Sprintf("the kernel has %s, but %s is missing: a container is given it with --device %s, and elsewhere udev makes it", device, node, node)}
	case syscall.EACCES:
		var fs syscall.Statfs_t
		if syscall.Statfs(node, &fs) == nil && fs.Flags&system.StNoDev != 0 {
			return &fault{errno, fmt.Sprintf("%s is on a file system that is mounted without devices (nodev)", node)}
		}
		return &fault{errno, fmt.Sprintf("user %d may not open %s%s: change its mode or group with a rule of udev's", os.Geteuid(), node, owners(info))}
	case syscall.EPERM:
		return &fault{errno, fmt.Sprintf("this process may not open %s whatever its mode: a container is allowed to with --device %s", node, node)}
	default:
		return &fault{errno, node + " cannot be opened"}
	}
}

// uverbs is the name of a device's character device, and its numbers.
func (h host) uverbs(device string) (name, numbers string) {
	// The pattern is not malformed, which is the only error.
	found, _ := filepath.Glob(filepath.Join(h.sys, "infiniband_verbs", "*", "ibdev"))
	for _, file := range found {
		if firstLine(file) == device {
			dir := filepath.Dir(file)
			return filepath.Base(dir), firstLine(filepath.Join(dir, "dev"))
		}
	}
	return "", ""
}

// firstLine is what a file of sysfs says, or nothing.
func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// deviceNumbers is a file's device numbers in the way of sysfs.
func deviceNumbers(info os.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&os.ModeCharDevice == 0 {
		return "no character device"
	}
	major, minor := system.DeviceNumbers(uint64(stat.Rdev))
	return fmt.Sprintf("%d:%d", major, minor)
}

// owners says who may use a file, if it could be looked at.
func owners(info os.FileInfo) string {
	if info == nil {
		return ", nor look into its folder"
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (%04o, of user %d and group %d)", info.Mode().Perm(), stat.Uid, stat.Gid)
}
