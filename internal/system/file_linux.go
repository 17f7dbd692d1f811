package system

import "syscall"

// OPath opens a file to name it, and neither to read nor to write it: open(2).
const OPath = 0x200000

// StNoDev says that a file system is mounted without devices: statfs(2).
const StNoDev = 4

// Nonblocking reports whether reading a file does not wait: fcntl(2).
func Nonblocking(fd int) (bool, error) {
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	if errno != 0 {
		return false, errno
	}
	return flags&syscall.O_NONBLOCK != 0, nil
}

// DeviceNumbers takes the number of a device apart, as stat(2) has it.
func DeviceNumbers(device uint64) (major, minor uint32) {
	return uint32(device>>8&0xfff | device>>32&^0xfff), uint32(device&0xff | device>>12&^0xff)
}
