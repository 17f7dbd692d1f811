package ccall

// Buffers is where memory for devices comes from instead of the system, if a stand-in for devices wants some of its own.
// It is set in func init, as StandIn is.
var Buffers struct {
	// Alloc gives memory that begins a page and is zero, or nil if it is to be the system's after all.
	Alloc func(size int) []byte
	// Free takes back what Alloc gave, as it was given, and reports whether it was.
	Free func(memory []byte) bool
}

// AllocBuffer asks Buffers.
func AllocBuffer(size int) []byte {
	if Buffers.Alloc == nil {
		return nil
	}
	return Buffers.Alloc(size)
}

// FreeBuffer likewise.
func FreeBuffer(memory []byte) bool { return Buffers.Free != nil && Buffers.Free(memory) }
