package ibv_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goverbs/goverbs/internal/ccall"
)

// scratch is a directory for the time of the tests.
var scratch string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if os.Getenv("GOVERBS_CCALL") == "portable" && ccall.Direct() {
		fmt.Println("GOVERBS_CCALL=portable has no effect")
		return 1
	}
	dir, err := os.MkdirTemp("", "ibv")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}

// Whatever is said of posting and polling holds without the direct call too.
func TestPortable(t *testing.T) {
	tests := []string{"TestPost", "TestChain", "TestPoll", "TestRange", "TestQueryPort", "TestBatch", "TestExtendedPoll"}
	again(t, "^("+strings.Join(tests, "|")+")", "GOVERBS_CCALL=portable")
}
