package conformance

// newerScenarios are of what FreeBSD's libibverbs does not have.
var newerScenarios []Scenario

// resolvesEthernet is that ibv_resolve_eth_l2_from_gid finds addresses.
const resolvesEthernet = false

func older(*T) string { return "FreeBSD's libibverbs does not have it" }

var (
	lacksModeration, lacksExtendedCQs, lacksTimestamps, lacksBatches            = older, older, older, older
	lacksParentDomains, lacksThreadDomains, lacksDeviceMemory, lacksNullRegions = older, older, older, older
	lacksRegionAttributes, lacksAdvice, lacksSharing                            = older, older, older
)
