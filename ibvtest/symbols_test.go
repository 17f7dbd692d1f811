//go:build !freebsd

package ibvtest

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Every function that package ibv calls in libibverbs is served, as one that works or as one that devices lack, and not as
// both.
func TestEveryFunctionIsServed(t *testing.T) {
	var names []string
	for _, file := range []string{"zz_generated.go", "zz_generated_not-freebsd.go"} {
		text, err := os.ReadFile("../ibv/" + file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`clib\.Function\{Library: &cLibrary, Name: "(\w+)"`).FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	require.Greater(t, len(names), 80)
	for _, name := range names {
		served := 0
		for _, is := range []bool{symbols[name] != nil, unsupported[name] != nil, global[name] != nil && name != "ibv_ack_async_event"} {
			if is {
				served++
			}
		}
		assert.Equal(t, 1, served, name)
	}
	for name := range symbols {
		require.Contains(t, names, name, "there is no such function")
	}
	for name := range unsupported {
		require.Contains(t, names, name, "there is no such function")
	}
}

// lacked are the operations that no device of ours has: package ibv gives syscall.EOPNOTSUPP for them.
var lacked = []string{
	// What is not asked for by them: the exported function of that name is.
	"FreeBuf", "AllocBuf", "DMExportDMABufFD", "RegMREx", "DeallocDMAH", "AllocDMAH",
	// Raw packets: flows, their actions and counters, and queues to spread them over.
	"ReadCounters", "AttachCountersPointFlow", "CreateCounters", "DestroyCounters",
	"ModifyFlowActionESP", "DestroyFlowAction", "CreateFlowActionESP", "IbvCreateFlow", "IbvDestroyFlow",
	"CreateWQ", "ModifyWQ", "DestroyWQ", "CreateRWQIndTable", "DestroyRWQIndTable",
	"ModifyQPRateLimit",
	// Tag matching.
	"PostSRQOps",
	// What C keeps a place for.
	"ABIPlaceholder1", "ABIPlaceholder2",
}

// Every operation that a context has a place for is there, or is one that devices lack.
func TestEveryOperationIsServed(t *testing.T) {
	var v ibv.VerbsContext
	for _, give := range equip {
		give(&v)
	}
	operations := map[string]bool{}
	for _, of := range []reflect.Value{reflect.ValueOf(&v).Elem(), reflect.ValueOf(&v.Context.Ops).Elem()} {
		for i := range of.NumField() {
			if of.Field(i).Kind() == reflect.Uintptr {
				operations[of.Type().Field(i).Name] = of.Field(i).Uint() != 0
			}
		}
	}
	require.Greater(t, len(operations), 45)
	for name, there := range operations {
		assert.NotEqual(t, slices.Contains(lacked, name), there, name)
	}
	for _, name := range lacked {
		require.Contains(t, operations, name)
	}
}
