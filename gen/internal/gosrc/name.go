package gosrc

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	"av": "AV", "cc": "CC", "cpu": "CPU", "dma": "DMA", "ee": "EE", "eec": "EEC",
	"eecn": "EECN", "fmr": "FMR", "fw": "FW", "gids": "GIDs", "icv": "ICV",
	"ipd": "IPD", "led": "LED", "mads": "MADs", "mkey": "MKey", "mss": "MSS",
	"nvram": "NVRAM", "pkeys": "PKeys", "qpts": "QPTs", "rdd": "RDD",
	"rnic": "RNIC", "snmp": "SNMP", "spi": "SPI", "sw": "SW", "tfc": "TFC",
	"tos": "TOS", "tph": "TPH", "ttl": "TTL", "usnic": "USNIC", "wqe": "WQE",
	"wrs": "WRs",
	"aso": "ASO", "bm": "BM", "crc": "CRC", "dc": "DC", "dci": "DCI", "dek": "DEK",
	"devx": "DevX", "eq": "EQ", "gsi": "GSI", "klm": "KLM", "lso": "LSO",
	"mad": "MAD", "msi": "MSI", "rmpp": "RMPP", "rpc": "RPC", "sa": "SA",
	"smi": "SMI", "umem": "UMem", "umr": "UMR", "vfio": "VFIO",
	"bf": "BF", "bsf": "BSF", "cma": "CMA", "cpi": "CPI", "cqe64": "CQE64",
	"cqn": "CQN", "crc32": "CRC32", "crc64": "CRC64", "db": "DB", "dbr": "DBR",
	"dctn": "DCTN", "deks": "DEKs", "dns": "DNS", "dqp": "DQP", "dqpn": "DQPN",
	"edr": "EDR", "eqn": "EQN", "fdr": "FDR", "fec": "FEC", "gmp": "GMP",
	"guid0": "GUID0", "guid1": "GUID1", "guid2": "GUID2", "guid3": "GUID3",
	"guid4": "GUID4", "guid5": "GUID5", "guid6": "GUID6", "guid7": "GUID7",
	"icm": "ICM", "ipoib": "IPoIB", "kek": "KEK", "lag": "LAG", "lids": "LIDs",
	"mgid": "MGID", "mlid": "MLID", "mprq": "MPRQ", "nic": "NIC", "oui": "OUI",
	"pdn": "PDN", "pma": "PMA", "pp": "PP", "ps": "PS", "psv": "PSV",
	"qos": "QoS", "rai": "RAI", "rgid": "RGID", "rlid": "RLID", "rqn": "RQN",
	"rqpn": "RQPN", "sgl": "SGL", "smlid": "SMLID", "smp": "SMP", "sqn": "SQN",
	"srd": "SRD", "tir": "TIR", "tirn": "TIRN", "tisn": "TISN", "uar": "UAR",
	"vhca": "VHCA",
}

// dropped are the prefixes that Go names go without, in small letters: those of
// the package's own header first.
type dropped []string

// goName is the exported Go name for a C name: its words in Go's way, a prefix
// dropped. A digit keeps its distance from a digit (2_5), or else two names could
// become one.
func (d dropped) goName(c string) string {
	c = strings.TrimLeft(c, "_")
	if i := d.rank(c); i < len(d) {
		c = c[len(d[i])+1:]
	}
	return camel(c)
}

// rank is which of the prefixes a C name starts with, or their number for none.
// C writes each in small or in capital letters. What follows must make a name.
func (d dropped) rank(c string) int {
	for i, p := range d {
		rest, ok := strings.CutPrefix(c, p+"_")
		if !ok {
			rest, ok = strings.CutPrefix(c, strings.ToUpper(p)+"_")
		}
		if rest = strings.TrimLeft(rest, "_"); ok && rest != "" && !isDigit(rest[0]) {
			return i
		}
	}
	return len(d)
}

// camel joins the words of a C name.
func camel(c string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(c, isJoint) {
		if b.Len() > 0 && isDigit(word[0]) && isDigit(b.String()[b.Len()-1]) {
			b.WriteByte('_')
		}
		b.WriteString(capital(word))
	}
	return exported(b.String())
}

// isJoint reports whether a letter joins words: whatever Go does not have in
// names does, such as the dollar that compilers take.
func isJoint(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// exported is a name that Go exports: not all letters have a capital form.
func exported(name string) string {
	if first, size := utf8.DecodeRuneInString(name); size > 0 && unicode.IsLower(first) {
		name = string(unicode.ToUpper(first)) + name[size:]
	}
	if first, _ := utf8.DecodeRuneInString(name); !unicode.IsUpper(first) {
		return "X" + name
	}
	return name
}

// spelled is a C name as C spells it, as far as Go can have that.
func spelled(c string) string {
	return exported(strings.Map(func(r rune) rune {
		if isJoint(r) {
			return '_'
		}
		return r
	}, strings.TrimLeft(c, "_")))
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
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unexported is name as Go spells it inside its package: its first word, which
// may be an initialism, in small letters.
func unexported(name string) string {
	letters := []rune(name)
	n := 1
	for n < len(letters) && unicode.IsUpper(letters[n]) && (n+1 == len(letters) || !unicode.IsLower(letters[n+1])) {
		n++
	}
	return strings.ToLower(string(letters[:n])) + string(letters[n:])
}

// hidden reports whether a member is none of the user's business: C reserves
// names with two leading underscores for the implementation.
func hidden(c string) bool { return strings.HasPrefix(c, "__") }
