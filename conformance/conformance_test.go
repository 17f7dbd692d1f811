package conformance

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	devices  = flag.String("device", inProcess, "the devices to hold to the scenarios, with commas between them; ibvtest is one in the process")
	patience = flag.Duration("patience", 0, "how long a scenario may take")
)

// newDevice makes a device in the process, where there can be one.
var newDevice = func(t *testing.T) string {
	t.Fatal("there are no devices in the process here: pass -device NAME")
	return ""
}

// Each device passes every scenario, or may do without.
func TestDevice(t *testing.T) {
	for _, name := range strings.Split(*devices, ",") {
		t.Run(name, func(t *testing.T) {
			if name == inProcess {
				name = newDevice(t)
			}
			pass(t, name)
		})
	}
}

func pass(t *testing.T, device string) {
	report, err := start(device)
	require.NoError(t, err)
	for _, s := range Scenarios() {
		t.Run(strings.ReplaceAll(s.Group+"/"+s.Name, " ", "_"), func(t *testing.T) {
			result := s.run(device, Options{Patience: *patience})
			report.Results = append(report.Results, result)
			switch t.Logf("%v in %v", result.Status, result.Took); result.Status {
			case Failed:
				t.Error(result.Reason)
			case NotSupported:
				t.Log(result.Reason)
			}
		})
	}
	// The table is the outcome. Where all is well, go test shows it with -v only.
	os.Stdout.WriteString(report.String())
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
