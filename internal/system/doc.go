// Package system has the few system calls, and constants of theirs, that package syscall lacks or does not name, so that
// whoever imports goverbs does not get golang.org/x/sys with it, which is larger than all the rest. Tests compare with it.
package system
