package conformance

// FreeBSD's libibverbs is older than what these are about.
var moderationScenarios []Scenario

func lacksModeration(*T) string { return "FreeBSD's libibverbs cannot hold events back" }
