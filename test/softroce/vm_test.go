//go:build softroce

// Package softroce tests vm, the script that runs a command in a guest with
// devices of Soft-RoCE and siw. It boots guests, so it has a build tag of its own:
//
//	go test -tags softroce ./test/softroce
//
// GUEST=uml in the environment tests uml in its place.
package softroce

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inGuest makes this test binary, run by vm, report what it sees.
const inGuest = "SOFTROCE_TEST_IN_GUEST"

// sight is what a command sees of its surroundings.
type sight struct {
	Args, Env []string
	Dir       string
	Devices   []string
}

func TestMain(m *testing.M) {
	if os.Getenv(inGuest) == "" {
		os.Exit(m.Run())
	}
	if err := report(); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(7)
}

// report is the guest's half of TestGuest.
func report() error {
	s := sight{Args: os.Args[1:], Env: os.Environ()}
	s.Dir, _ = os.Getwd()
	devices, err := os.ReadDir("/sys/class/infiniband")
	if err != nil {
		return err
	}
	for _, d := range devices {
		s.Devices = append(s.Devices, d.Name())
	}
	for _, dir := range []string{".", os.Getenv("VM_OUT")} {
		if err := os.WriteFile(filepath.Join(dir, "written"), []byte("in the guest"), 0o666); err != nil {
			return err
		}
	}
	if _, err := os.Stderr.WriteString("to standard error, no newline"); err != nil {
		return err
	}
	return gob.NewEncoder(os.Stdout).Encode(s)
}

// script is the one that is tested.
func script() string {
	if os.Getenv("GUEST") == "uml" {
		return "uml"
	}
	return "vm"
}

func vm(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(script())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

func TestGuest(t *testing.T) {
	t.Parallel()
	args := []string{"two words", "it's", `"quoted"`, "two\nlines", "", "*", "$HOME", "`id`", `\`, "é", "\xff", "-n"}
	dir := filepath.Join(t.TempDir(), "a folder, with 'quotes'")
	out := filepath.Join(t.TempDir(), "out, shared")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	env := []string{inGuest + "=1", "VM_OUT=" + out, "GREETING=two\nlines, 'one' $variable", "EMPTY=", "dotted.name=kept"}
	cmd := vm(t, env, append([]string{os.Args[0]}, args...)...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr

	if code := exitCode(t, cmd.Run()); code != 7 {
		t.Fatalf("exit status %d, want the command's own, 7; standard error:\n%s", code, &stderr)
	}
	if got := stderr.String(); !strings.HasSuffix(got, "to standard error, no newline") {
		t.Errorf("standard error: %q", got)
	}
	var got sight
	if err := gob.NewDecoder(&stdout).Decode(&got); err != nil {
		t.Fatalf("standard output did not arrive as it was written: %v", err)
	}
	if !slices.Equal(got.Args, args) {
		t.Errorf("arguments:\n got %q\nwant %q", got.Args, args)
	}
	for _, want := range env {
		if !slices.Contains(got.Env, want) {
			t.Errorf("environment lacks %q", want)
		}
	}
	if got.Dir != dir {
		t.Errorf("working directory: got %q, want %q", got.Dir, dir)
	}
	if want := []string{"rxe0", "siw0"}; !slices.Equal(got.Devices, want) {
		t.Errorf("RDMA devices: got %q, want %q", got.Devices, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "written")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file written in the guest is on the host (%v)", err)
	}
	if data, err := os.ReadFile(filepath.Join(out, "written")); err != nil || string(data) != "in the guest" {
		t.Errorf("file written to VM_OUT: %q, %v", data, err)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	// What makes the kernel panic, which is a thing that uml's does not offer. A
	// guest that just ends is as bad.
	panics, says := "echo c >/proc/sysrq-trigger", "Kernel panic"
	if script() == "uml" {
		panics, says = `"$(./static-busybox)" poweroff -f`, "System halted"
	}
	out, err := vm(t, nil, "sh", "-c", panics).CombinedOutput()
	if code := exitCode(t, err); code != 125 {
		t.Errorf("exit status %d, want 125", code)
	}
	if !bytes.Contains(out, []byte(says)) {
		t.Errorf("the console is not in the output:\n%s", out)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	out, err := vm(t, []string{"VM_TIMEOUT=2"}, "sleep", "60").CombinedOutput()
	if code := exitCode(t, err); code != 125 {
		t.Errorf("exit status %d, want 125", code)
	}
	if !bytes.Contains(out, []byte("did not finish in 2 s")) {
		t.Errorf("output:\n%s", out)
	}
}

// TestInterrupt also shows that output arrives while the command runs.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	cmd := vm(t, []string{"TMPDIR=" + tmp}, "sh", "-c", "echo started; sleep 600")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "started\n" {
		t.Errorf("first line: %q, %v", line, err)
	}
	start := time.Now()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd.Wait()); code != 128+int(syscall.SIGINT) {
		t.Errorf("exit status %d, want 130", code)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("took %v to end", d)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err == nil {
		return 0
	}
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

// No guest is made for a program that is not there: that can take minutes.
func TestNoProgram(t *testing.T) {
	out, err := vm(t, []string{"GOVERBS_CACHE=" + t.TempDir()}, "./nothing").CombinedOutput()
	if code := exitCode(t, err); code != 127 {
		t.Errorf("exit status %d, want 127", code)
	}
	if want := script() + ": there is no program ./nothing\n"; string(out) != want {
		t.Errorf("output: %s", out)
	}
}

// A kernel that is named is the one that is taken, or none.
func TestNoKernel(t *testing.T) {
	if script() == "uml" {
		t.Skip("uml takes no kernel package")
	}
	out, err := vm(t, []string{"GOVERBS_KERNEL_DEB=nothing.deb"}, "true").CombinedOutput()
	if code := exitCode(t, err); code != 125 {
		t.Errorf("exit status %d, want 125", code)
	}
	if want := "softroce: GOVERBS_KERNEL_DEB: no file nothing.deb\nvm: no guest to run\n"; string(out) != want {
		t.Errorf("output: %s", out)
	}
}
