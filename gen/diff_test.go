package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/headers"
)

// output runs a command and returns what it prints and how it ends.
func output(command string, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(append([]string{command}, args...), &out)
	return out.String(), err
}

func TestDiffStatus(t *testing.T) {
	older, newer := include(t, "infiniband/x.h", oldHeader), include(t, "infiniband/x.h", newHeader)
	file := filepath.Join(t.TempDir(), "old.json")
	gen(t, "facts", "-header", "infiniband/x.h", "-I", older, "-o", file)
	for _, c := range []struct {
		name, before, after string
		status              int
		want                []string
	}{
		{"same", older, file, 0, []string{"nothing changed"}},
		{"additions", file, newer, 1, []string{"grown:\n  struct tail\n      size 8 became 12\n      more at 8 is new\n", "added:\n"}},
		{"removals", newer, older, 2, []string{"removed:\n", "changed:\n  struct tail"}},
		{"targets", newer + "@linux/amd64", newer + "@linux/386", 2, []string{"x (8 bytes at 0) became (4 bytes at 0)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := output("diff", "-header", "infiniband/x.h", c.before, c.after)
			if c.status == 0 {
				assert.NoError(t, err)
			} else {
				assert.Equal(t, exitError(c.status), err)
			}
			for _, want := range c.want {
				assert.Contains(t, out, want)
			}
		})
	}
}

func TestDiffAsJSON(t *testing.T) {
	out, err := output("diff", "44.0", "65.0", "-json")
	assert.Equal(t, exitError(1), err)
	var changes []abi.Change
	require.NoError(t, json.Unmarshal([]byte(out), &changes))
	assert.Contains(t, changes, abi.Change{Kind: abi.Grown, What: "struct", Name: "ibv_port_attr",
		Details: []string{"size 52 became 56", "active_speed_ex at 52 is new"}, Members: []string{"active_speed_ex"}})
	out, err = output("diff", "65.0", "65.0", "-json")
	require.NoError(t, err)
	assert.Equal(t, "[]\n", out)
}

// Since 33.2, rdma-core has kept what it promised, and the generator says so.
func TestReleasesOnlyAdd(t *testing.T) {
	var releases []string
	for _, r := range headers.Releases() {
		if r[0] >= '0' && r[0] <= '9' {
			releases = append(releases, r)
		}
	}
	require.GreaterOrEqual(t, len(releases), 11)
	for i := range releases[1:] {
		out, err := output("diff", releases[i], releases[i+1])
		assert.NotEqual(t, exitError(2), err, "%s to %s:\n%s", releases[i], releases[i+1], out)
	}
	_, err := output("diff", releases[len(releases)-1], releases[0])
	assert.Equal(t, exitError(2), err)
}

func TestDiffArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"compares two, OLD and NEW, not 1": {"65.0"},
		"nor a known release (33.2":        {"65.0", "12.5"},
		"no facts of release freebsd-14 for linux/amd64, but for freebsd/amd64, freebsd/arm64; name one of them with -target": {"freebsd-14", "freebsd-15"},
		"65.0.json.gz holds no facts of freebsd/amd64, but of linux/":                                                         {"-target", "freebsd/amd64", "../headers/facts/65.0.json.gz", "freebsd-15"},
		"no facts of release 65.0 for freebsd/amd64":                                                                          {"65.0@freebsd/amd64", "65.0"},
		"not defined: -I; gen diff -h explains":                                                                               {"-I", "/", "65.0", "65.0"},
		"takes one -target, not 2":                                                                                            {"-target", "linux/amd64", "-target", "linux/arm64", "65.0", "65.0"},
	} {
		assert.ErrorContains(t, genFails(t, append([]string{"diff"}, args...)...), want)
	}
}
