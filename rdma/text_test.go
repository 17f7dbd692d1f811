package rdma

import "strings"

// firstLine is what an error says without the stacks of checked mode.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
