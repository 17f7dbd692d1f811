package system

import "golang.org/x/sys/unix"

// The number is the system's, or this does not compile.
const _ = uint(RlimitMemlock-unix.RLIMIT_MEMLOCK) + uint(unix.RLIMIT_MEMLOCK-RlimitMemlock)
