//go:build !freebsd

package conformance

import (
	"testing"

	"github.com/goverbs/goverbs/ibvtest"
)

func init() {
	newDevice = func(t *testing.T) string { return ibvtest.New(t).Names()[0] }
}
