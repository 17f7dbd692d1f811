package cputime

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ticking is a clock that counts whole ticks of the time that passes.
func ticking(name string, tick time.Duration) Clock {
	return Clock{Name: name, now: func() time.Duration { return time.Since(start).Truncate(tick) }}
}

func still(name string) Clock { return Clock{Name: name, now: func() time.Duration { return 0 }} }

func TestChoose(t *testing.T) {
	coarse, middling, fine := ticking("coarse", 10*time.Millisecond), ticking("middling", time.Millisecond), ticking("fine", time.Microsecond)
	for _, test := range []struct {
		shortest time.Duration
		of       []Clock
		want     string
	}{
		{4 * time.Millisecond, []Clock{coarse, fine}, "fine"},
		{4 * time.Millisecond, []Clock{still("still"), fine}, "fine"},
		{10 * time.Second, []Clock{coarse, fine}, "coarse"}, // which is better than fine
		{4 * time.Millisecond, []Clock{coarse, middling, coarse}, "middling"},
	} {
		c, err := choose(test.of, test.shortest)
		require.NoError(t, err)
		require.Equal(t, test.want, c.Name)
		require.Positive(t, c.Resolution)
	}
	_, err := choose([]Clock{still("a"), still("b")}, time.Second)
	require.Error(t, err)
}

// TestTimeIsNeverNothing times work that is much shorter than the clock's step.
func TestTimeIsNeverNothing(t *testing.T) {
	c, err := choose([]Clock{ticking("coarse", 2*time.Millisecond)}, time.Microsecond)
	require.NoError(t, err)
	require.GreaterOrEqual(t, c.Resolution, 2*time.Millisecond)
	runs, prepared := 0, 0
	took, err := c.Time(func() { prepared++ }, func() error {
		runs++
		for begin := time.Now(); time.Since(begin) < 100*time.Microsecond; {
		}
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, took)
	require.Greater(t, runs, 1, "it was repeated")
	require.Equal(t, runs, prepared)

	failed := errors.New("failed")
	_, err = c.Time(nil, func() error { return failed })
	require.ErrorIs(t, err, failed)
}

// TestClocksOfTheSystem has each clock that moves see work that was done.
func TestClocksOfTheSystem(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := Choose(4 * time.Millisecond)
	require.NoError(t, err)
	t.Logf("%s, steps of %v", c.Name, c.Resolution)
	seen := 0
	for _, c := range clocks() {
		if c.Resolution = resolution(c.now); c.Resolution == 0 {
			continue
		}
		seen++
		took, err := c.Time(nil, func() error {
			for begin := time.Now(); time.Since(begin) < time.Millisecond; {
			}
			return nil
		})
		require.NoError(t, err, c.Name)
		require.Positive(t, took, c.Name)
	}
	require.Positive(t, seen)
}
