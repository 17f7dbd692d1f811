package gosrc

import (
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGoName(t *testing.T) {
	for _, c := range []struct{ c, want string }{
		// The library's prefix is what C has instead of packages.
		{"ibv_recv_wr", "RecvWR"},
		{"IBV_QPT_RC", "QPTRC"},
		{"ibv_", "Ibv"},
		{"mlx5dv_context", "Mlx5dvContext"},
		// Initialisms, in a tag, shouted, and as part of a word.
		{"ibv_sge", "SGE"},
		{"IBV_WC_TM_ADD", "WCTMAdd"},
		{"ibv_srq_init_attr_ex", "SRQInitAttrEx"},
		{"ibv_gid_type", "GIDType"},
		{"ibv_guide", "Guide"},
		{"mlx5_cqe64", "Mlx5CQE64"},
		// Digits keep their distance from digits.
		{"IBV_RATE_2_5_GBPS", "Rate2_5Gbps"},
		{"IBV_RATE_25_GBPS", "Rate25Gbps"},
		{"IBV_MTU_256", "MTU256"},
		{"vl15_dropped", "VL15Dropped"},
		// What Go does not take as the start of a name.
		{"_1", "X1"},
		{"_", "X"},
		{"__u8", "U8"},
		{"_private", "Private"},
		// Case inside a word is the author's.
		{"maxSge", "MaxSge"},
	} {
		assert.Equal(t, c.want, dropped{verbsPrefix}.goName(c.c), c.c)
	}
}

func TestMemberName(t *testing.T) {
	for _, c := range []struct{ c, want string }{
		{"wr_id", "WRID"},
		{"num_sge", "NumSGE"},
		{"qp_num", "QPNum"},
		{"lkey", "LKey"},
		{"sgid_index", "SGIDIndex"},
		// No keyword of Go has a capital.
		{"type", "Type"},
		{"func", "Func"},
		{"range", "Range"},
		{"interface", "Interface"},
	} {
		got := camel(c.c)
		assert.Equal(t, c.want, got, c.c)
		assert.True(t, token.IsIdentifier(got) && token.IsExported(got), got)
	}
}

func TestUnexported(t *testing.T) {
	for exported, want := range map[string]string{
		"WRID": "wrid", "QPNum": "qpNum", "Data": "data", "A": "a", "GIDIndex": "gidIndex",
	} {
		assert.Equal(t, want, unexported(exported))
	}
}
