package ibv_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func TestWCErr(t *testing.T) {
	require.NoError(t, (&ibv.WC{WRID: 1, VendorErr: 2}).Err())
	for _, status := range []ibv.WCStatus{ibv.WCLocLenErr, ibv.WCLocProtErr, ibv.WCWRFlushErr, ibv.WCRetryExcErr, ibv.WCGeneralErr, 12345} {
		wc := ibv.WC{WRID: 0xabc, Status: status, VendorErr: 0x17, QPNum: 0x123456, ByteLen: 99}
		err := wc.Err()
		var completion *ibv.CompletionError
		require.ErrorAs(t, err, &completion)
		require.Equal(t, &ibv.CompletionError{WRID: 0xabc, Status: status, VendorErr: 0x17, QPNum: 0x123456}, completion)
		require.Contains(t, err.Error(), fmt.Sprintf("ibv: work request with WRID 0xabc on queue pair 0x123456 failed: %v (vendor error 0x17)", status))
	}
}

func TestCompletionErrorAdvice(t *testing.T) {
	for status, advice := range map[ibv.WCStatus]string{
		ibv.WCLocLenErr:      "longer than the buffers",
		ibv.WCLocProtErr:     "lkey",
		ibv.WCWRFlushErr:     "an earlier completion says why",
		ibv.WCMWBindErr:      "AccessMWBind",
		ibv.WCRemInvReqErr:   "too long for the receive buffers",
		ibv.WCRemAccessErr:   "rkey",
		ibv.WCRetryExcErr:    "did not answer",
		ibv.WCRNRRetryExcErr: "no receive work request posted",
	} {
		require.ErrorContains(t, &ibv.CompletionError{Status: status}, advice)
	}
	require.NotContains(t, (&ibv.CompletionError{Status: ibv.WCGeneralErr}).Error(), ";")
}

func TestUDPayload(t *testing.T) {
	buf := make([]byte, 100)
	for i := range buf {
		buf[i] = byte(i)
	}
	for _, tt := range []struct {
		byteLen uint32
		buf     []byte
		want    []byte // nil for an error
	}{
		{40, buf, []byte{}},
		{41, buf, buf[40:41]},
		{100, buf, buf[40:]},
		{40, buf[:40], []byte{}},
		{0, buf, nil},
		{39, buf, nil},
		{101, buf, nil},
		{math.MaxUint32, buf, nil},
		{1 << 31, buf, nil},
		{40, buf[:39], nil},
		{41, buf[:40], nil},
		{0, nil, nil},
		{40, nil, nil},
	} {
		wc := ibv.WC{WRID: 0x77, ByteLen: tt.byteLen}
		got, err := wc.UDPayload(tt.buf)
		if tt.want == nil {
			require.Nil(t, got)
			require.ErrorContains(t, err, "work request with WRID 0x77")
			require.ErrorContains(t, err, fmt.Sprintf("%d bytes were received", tt.byteLen))
			require.ErrorContains(t, err, fmt.Sprintf("a buffer of %d", len(tt.buf)))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
		if len(got) > 0 {
			require.Same(t, &tt.buf[40], &got[0], "not a copy")
		}
	}

	failed := ibv.WC{Status: ibv.WCWRFlushErr, ByteLen: 50}
	got, err := failed.UDPayload(buf)
	require.Nil(t, got)
	var completion *ibv.CompletionError
	require.ErrorAs(t, err, &completion)
}

func TestUDHeader(t *testing.T) {
	buf := make([]byte, 64)
	for i := range buf {
		buf[i] = byte(i)
	}
	wc := ibv.WC{ByteLen: 40, WCFlags: ibv.WCGRH | ibv.WCWithImm}
	grh, ok := wc.UDHeader(buf[:40])
	require.True(t, ok)
	require.EqualValues(t, 0x00010203, grh.VersionTclassFlow.Host())
	require.EqualValues(t, 0x0405, grh.Paylen.Host())
	require.EqualValues(t, 6, grh.NextHdr)
	require.EqualValues(t, 7, grh.HopLimit)
	require.Equal(t, buf[8:24], grh.SGID.Raw()[:])
	require.Equal(t, buf[24:40], grh.DGID.Raw()[:])
	buf[8] = 0xff
	require.EqualValues(t, 8, grh.SGID.Raw()[0], "a copy")

	for name, tt := range map[string]struct {
		wc  ibv.WC
		buf []byte
	}{
		"no header":   {ibv.WC{ByteLen: 60, WCFlags: ibv.WCWithImm}, buf},
		"short":       {ibv.WC{ByteLen: 60, WCFlags: ibv.WCGRH}, buf[:39]},
		"no buffer":   {ibv.WC{ByteLen: 60, WCFlags: ibv.WCGRH}, nil},
		"not UD":      {ibv.WC{ByteLen: 39, WCFlags: ibv.WCGRH}, buf},
		"failed work": {ibv.WC{ByteLen: 60, WCFlags: ibv.WCGRH, Status: ibv.WCLocLenErr}, buf},
	} {
		grh, ok := tt.wc.UDHeader(tt.buf)
		require.False(t, ok, name)
		require.Zero(t, grh, name)
	}
}
