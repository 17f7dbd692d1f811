//go:build !freebsd

package ibvtest

// NoData is what the errno ENODATA is where the system has none.
const NoData = noData
