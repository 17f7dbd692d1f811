//go:build linux && !musl

package dl

// builtFor is the C library whose layout of libibverbs' objects this program is built for.
const builtFor = glibc
