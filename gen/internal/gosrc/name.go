package gosrc

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in one case, or in the case in
// which the field writes them. Every other word gets an initial capital.
var initialisms = map[string]string{
	"abi": "ABI", "ah": "AH", "cq": "CQ", "cqe": "CQE", "cvlan": "CVLAN",
	"dct": "DCT", "dgid": "DGID", "dlid": "DLID", "dm": "DM", "dmah": "DMAH",
	"dmabuf": "DMABuf", "ece": "ECE", "esn": "ESN", "esp": "ESP", "fcs": "FCS",
	"fd": "FD", "gid": "GID", "gre": "GRE", "grh": "GRH", "guid": "GUID",
	"hca": "HCA", "hw": "HW", "ib": "IB", "id": "ID", "io": "IO", "iova": "IOVA",
	"ip": "IP", "ipv4": "IPv4", "ipv6": "IPv6", "iv": "IV", "iwarp": "IWARP",
	"lid": "LID", "lkey": "LKey", "lmc": "LMC", "mac": "MAC", "mpls": "MPLS",
	"mr": "MR", "mtu": "MTU", "mw": "MW", "odp": "ODP", "os": "OS", "pci": "PCI",
	"pd": "PD", "pkey": "PKey", "psn": "PSN", "qkey": "QKey", "qp": "QP",
	"qpn": "QPN", "qps": "QPS", "qpt": "QPT", "rc": "RC", "rdma": "RDMA",
	"rkey": "RKey", "rnr": "RNR", "roce": "RoCE", "rq": "RQ", "rss": "RSS",
	"rtr": "RTR", "rts": "RTS", "rwq": "RWQ", "sge": "SGE", "sgid": "SGID",
	"sl": "SL", "slid": "SLID", "sm": "SM", "sq": "SQ", "sqd": "SQD",
	"sqe": "SQE", "srq": "SRQ", "srqn": "SRQN", "srqt": "SRQT", "tag": "Tag",
	"tcp": "TCP", "td": "TD", "tm": "TM", "tso": "TSO", "uc": "UC", "ud": "UD",
	"udp": "UDP", "va": "VA", "vl": "VL", "vlan": "VLAN", "vxlan": "VXLAN",
	"wc": "WC", "wq": "WQ", "wqs": "WQS", "wqt": "WQT", "wr": "WR",
	"wrid": "WRID", "xrc": "XRC", "xrcd": "XRCD", "sg": "SG", "ns": "NS",
	"aes": "AES", "gcm": "GCM", "ca": "CA", "vl15": "VL15", "ts": "TS",
}

// prefixes are what C names carry because C has no packages.
var prefixes = []string{"ibv_", "IBV_"}

// goName is the exported Go name for a C name: its words in Go's way, the
// library's prefix dropped. A digit keeps its distance from a digit (2_5), or
// else two names could become one.
func goName(c string) string {
	c = strings.TrimLeft(c, "_")
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(c, p); ok && rest != "" {
			c = rest
			break
		}
	}
	return camel(c)
}

// camel joins the words of a C name.
func camel(c string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(c, "_") {
		if word == "" {
			continue
		}
		if b.Len() > 0 && isDigit(word[0]) && isDigit(b.String()[b.Len()-1]) {
			b.WriteByte('_')
		}
		b.WriteString(capital(word))
	}
	name := b.String()
	if name == "" || !unicode.IsLetter(rune(name[0])) {
		return "X" + name
	}
	return name
}

// capital writes one word: known ones as the table has them, shouted ones
// (C's constants) as plain words.
func capital(word string) string {
	lower := strings.ToLower(word)
	if known, ok := initialisms[lower]; ok {
		return known
	}
	if word == strings.ToUpper(word) {
		word = lower
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unexported is name as Go spells it inside its package.
func unexported(name string) string {
	n := 1
	for n < len(name) && unicode.IsUpper(rune(name[n])) && (n+1 == len(name) || !unicode.IsLower(rune(name[n+1]))) {
		n++
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// hidden reports whether a member is none of the user's business: C reserves
// names with two leading underscores for the implementation.
func hidden(c string) bool { return strings.HasPrefix(c, "__") }
