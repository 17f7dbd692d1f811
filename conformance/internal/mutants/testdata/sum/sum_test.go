package sum

import "testing"

func TestSum(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		if Sum(1, 2) != 3 {
			t.Error("no sum")
		}
	})
}
