package rdma

// noCopy has go vet report copies of a handle.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
