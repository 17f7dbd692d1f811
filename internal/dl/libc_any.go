//go:build !(linux && arm64)

package dl

// builtFor is empty: libibverbs' objects are laid out the same with every C library of this system.
const builtFor = ""
