//go:build linux && arm64 && musl

package dl

// builtFor is the C library whose layout of libibverbs' objects this program is built for.
const builtFor = musl
