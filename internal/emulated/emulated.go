// Package emulated has tests start programs of the processor that they are built for, also where they are run by an
// emulator of it.
package emulated

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// Variable of the environment names the emulator, with its flags, that runs programs of the tests' processor. It is
// empty where this machine's own does.
const Variable = "GOVERBS_TEST_EMULATOR"

// Emulated tells whether there is an emulator.
func Emulated() bool { return len(emulator()) > 0 }

func emulator() []string { return strings.Fields(os.Getenv(Variable)) }

// Line is the command line that a program is started by. The program is a path.
func Line(program string, args ...string) []string {
	return append(append(emulator(), program), args...)
}

// Command is [exec.Command] for such a program.
func Command(program string, args ...string) *exec.Cmd {
	return CommandContext(context.Background(), program, args...)
}

// CommandContext is [exec.CommandContext] for such a program.
func CommandContext(ctx context.Context, program string, args ...string) *exec.Cmd {
	line := Line(program, args...)
	return exec.CommandContext(ctx, line[0], line[1:]...)
}

// Itself is this test's program again, as [Command] has it.
func Itself(args ...string) *exec.Cmd { return Command(os.Args[0], args...) }
