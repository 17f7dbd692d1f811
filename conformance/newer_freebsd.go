package conformance

// newerScenarios are of what FreeBSD's libibverbs does not have.
var newerScenarios []Scenario

func lacksModeration(*T) string { return "FreeBSD's libibverbs cannot hold events back" }

func lacksExtendedCQs(*T) string { return "FreeBSD's libibverbs has no such queues" }
func lacksTimestamps(*T) string  { return "FreeBSD's libibverbs has no such completions" }
func lacksBatches(*T) string     { return "FreeBSD's libibverbs has no batches" }
