// Package sum is broken on purpose.
package sum

// Sum is the sum.
func Sum(a, b int) int { return a + b }
