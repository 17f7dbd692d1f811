package conformance

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	device   = flag.String("device", "", "the device to hold to the scenarios; ibvtest makes one in the process")
	patience = flag.Duration("patience", 0, "how long a scenario may take")
)

// newDevice makes a device in the process, where there can be one.
var newDevice = func(t *testing.T) string {
	t.Fatal("there are no devices in the process here: pass -device NAME")
	return ""
}

// The device passes every scenario, or may do without.
func TestDevice(t *testing.T) {
	if *device == "" {
		t.Skip("pass -device NAME: go test ./conformance -device rxe0")
	}
	name := *device
	if name == inProcess {
		name = newDevice(t)
	}
	whole := Report{Device: name}
	for _, s := range Scenarios() {
		t.Run(strings.ReplaceAll(s.Group+"/"+s.Name, " ", "_"), func(t *testing.T) {
			report, err := Run(name, Options{Patience: *patience, Select: func(other Scenario) bool { return other.String() == s.String() }})
			require.NoError(t, err)
			result := report.Results[0]
			whole.Provider, whole.Results = report.Provider, append(whole.Results, result)
			switch t.Logf("%v in %v", result.Status, result.Took); result.Status {
			case Failed:
				t.Error(result.Reason)
			case NotSupported:
				t.Log(result.Reason)
			}
		})
	}
	// The table is the outcome, also when all is well.
	os.Stdout.WriteString(whole.String())
}

// The table names each scenario once, with its basis.
func TestScenarios(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Scenarios() {
		require.NotEmpty(t, s.Group, s)
		require.NotEmpty(t, s.Name, s)
		require.NotEmpty(t, s.Basis, s)
		require.NotNil(t, s.Run, s)
		require.False(t, seen[s.String()], s)
		seen[s.String()] = true
	}
}

// A difference is in the table once, with its reason.
func TestDifferences(t *testing.T) {
	type key struct {
		property *Property
		provider string
	}
	seen := map[key]bool{}
	for _, d := range Differences() {
		k := key{d.Property, d.Provider}
		require.False(t, seen[k], "%s of %s", d.Property.Name, d.Provider)
		seen[k] = true
		require.NotEmpty(t, d.Reason)
	}
}
