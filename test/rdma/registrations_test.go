//go:build device && siw && linux

package rdma

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Regions come and go, and leave nothing: here 200,000, half of them on each device,
// of which up to 200 are open at a time.
func TestRegistrations(t *testing.T) {
	for _, name := range []string{deviceName, siwName} {
		t.Run(name, func(t *testing.T) {
			const rounds = 10
			registrations := effort(t, 10_000)
			r := newRigOn(t, name)
			memory := make([]byte, 1<<16)
			var before footprint
			for round := range rounds {
				r.comeAndGo(registrations, memory)
				now := r.footprint()
				if round == 0 {
					before = now // what C and Go keep for later is there by now
				}
				require.Zero(t, now.regions)
				require.LessOrEqual(t, now.files, before.files)
				require.LessOrEqual(t, now.mappings, before.mappings+8, "Go's heap may have a mapping more")
				require.LessOrEqual(t, now.resident, before.resident+8<<20, "a page of each would be 40 MB a round")
			}
		})
	}
}

// comeAndGo makes regions of all kinds, and closes them in any order.
func (r *rig) comeAndGo(registrations int, memory []byte) {
	r.t.Helper()
	var open []*rdma.Region
	for i := range registrations {
		var region *rdma.Region
		var err error
		if size := 1 + rand.IntN(len(memory)); i%2 == 0 {
			region, err = r.pd.Register(memory[:size], ibv.AccessLocalWrite)
		} else {
			region, err = r.pd.AllocRegion(min(size, 3*os.Getpagesize()), rdma.RegionOptions{})
		}
		require.NoError(r.t, err)
		open = append(open, region)
		for len(open) > 200 || i == registrations-1 && len(open) > 0 {
			at := rand.IntN(len(open))
			require.NoError(r.t, open[at].Close())
			open[at] = open[len(open)-1]
			open = open[:len(open)-1]
		}
	}
}

// footprint is what the process and its device have.
type footprint struct {
	resident uint64 // bytes of memory
	mappings int
	files    int
	regions  int // that the kernel counts
}

func (r *rig) footprint() (f footprint) {
	r.t.Helper()
	runtime.GC()
	status, err := os.ReadFile("/proc/self/statm")
	require.NoError(r.t, err)
	var size uint64
	_, err = fmt.Sscan(string(status), &size, &f.resident)
	require.NoError(r.t, err)
	f.resident *= uint64(os.Getpagesize())
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(r.t, err)
	f.mappings = strings.Count(string(maps), "\n")
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(r.t, err)
	f.files = len(files)
	name := r.dev.Raw().Device.String()
	said, err := exec.Command("rdma", "resource", "show", name).CombinedOutput()
	require.NoError(r.t, err, "%s", said)
	found := regexp.MustCompile(name + `:.* mr (\d+)`).FindSubmatch(said)
	require.NotNil(r.t, found, "%s", said)
	f.regions, err = strconv.Atoi(string(found[1]))
	require.NoError(r.t, err)
	return f
}
