//go:build unix && !linux && !freebsd

package system

// here are the names that other systems do not all have. No library is loaded on these.
var here []named
