//go:build !linux && !freebsd

package ibv

// memoryHint says what to do where there is not enough memory.
func memoryHint() string {
	return "ask for less, or close objects: QueryDevice has the device's limits"
}
