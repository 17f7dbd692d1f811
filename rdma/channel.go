package rdma

// Channel is a completion channel, where the events of many completion queues come.
type Channel struct{ _ noCopy }
