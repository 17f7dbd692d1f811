package clib_test

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goverbs/goverbs/clib"
)

func TestReason(t *testing.T) {
	for _, tt := range []struct {
		result int64
		errno  syscall.Errno
		want   syscall.Errno
	}{
		{22, 0, syscall.EINVAL}, {-22, syscall.ENOMEM, syscall.EINVAL}, {-1, syscall.ENOMEM, syscall.ENOMEM}, {-1, 0, syscall.EIO},
		{22, syscall.ENOMEM, syscall.EINVAL}, {math.MinInt32, 0, 1 << 31},
	} {
		assert.Equal(t, tt.want, clib.Reason(tt.result, tt.errno), "%d, %v", tt.result, tt.errno)
	}
}
