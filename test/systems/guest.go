package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A place is where the device tests are run.
type place struct {
	// guest is test/softroce's runner: "uml", or "vm" for QEMU.
	guest string
	// guestEnv is for the runner: VM_TIMEOUT=1800, or GOVERBS_KERNEL_DEB.
	guestEnv []string
	// before are lines of a shell script, run in the guest first.
	before []string
	// root is a folder that the tests are run in as their root, if it is not "".
	root string
	// enter is what they are run by, such as an emulator with its flags.
	enter []string
	// env is the environment of the tests, besides this one.
	env []string
	// skip is a regular expression of tests that cannot be in this place.
	skip string
	// skipScenarios is the same of scenarios, as go test names them.
	skipScenarios string
	// devices are those that are tested, if not both.
	devices []string
}

func (p place) deviceNames() []string {
	if len(p.devices) > 0 {
		return p.devices
	}
	return []string{rxe, siw}
}

// quote makes a word of a shell's.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = quote(w)
	}
	return strings.Join(all, " ")
}

// A job is a program to run in a place.
type job struct {
	name string
	argv []string
	dir  string // the folder to run it in, where it is not in a root of its own
}

// outcome is what a job printed, and how it ended.
type outcome struct {
	output string
	status string
}

// chooseLibraries are the variables by which whoever starts this would choose what is loaded, and it would be told of as
// if it were the place's.
var chooseLibraries = []string{
	"GOVERBS_LIBIBVERBS", "GOVERBS_LIBRARIES", "RDMAV_DRIVERS", "IBV_DRIVERS", "LD_LIBRARY_PATH", "LD_PRELOAD",
}

const (
	jobBegins = "== systems: begin "
	jobEnds   = "== systems: end "
)

// run runs jobs one after the other in one boot of the guest, with a folder that all of them are in. It gives the
// guest's kernel, too.
func (p place) run(s *session, dir string, jobs []job) (outcomes map[string]outcome, kernel string, err error) {
	var script strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&script, format+"\n", args...) }
	line("set -u")
	for _, l := range p.before {
		line("%s", l)
	}
	line("echo 'kernel '$(uname -r)")
	inside := func(path string) string { return path }
	if p.root != "" {
		for _, d := range []string{"proc", "sys", "dev"} {
			line("mkdir -p %s && mount --rbind /%s %s", quote(filepath.Join(p.root, d)), d, quote(filepath.Join(p.root, d)))
		}
		tests := filepath.Join(p.root, "tests")
		line("mkdir -p %s %s && mount --bind %s %s", quote(tests), quote(filepath.Join(p.root, "tmp")), quote(dir), quote(tests))
		inside = func(path string) string {
			if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
				return "/tests/" + rel
			}
			return path
		}
	}
	for _, j := range jobs {
		argv := []string{"env"}
		for _, name := range chooseLibraries {
			argv = append(argv, "-u", name)
		}
		argv = append(argv, p.env...)
		before := "cd " + quote(j.dir) + " && "
		if p.root != "" {
			argv, before = append(argv, "chroot", p.root), "" // the root may have no programs of its own
		}
		argv = append(argv, p.enter...)
		for _, word := range j.argv {
			argv = append(argv, inside(word))
		}
		if j.dir == "" {
			before = ""
		}
		line("echo %s", quote(jobBegins+j.name))
		line("(%s%s) 2>&1 </dev/null; status=$?; echo; echo %s$status", before, quoted(argv), quote(jobEnds))
	}
	file := filepath.Join(s.work, "script")
	if err := os.WriteFile(file, []byte(script.String()), 0o644); err != nil {
		return nil, "", err
	}
	out, err := s.command(p.guestEnv, filepath.Join(s.root, "test/softroce", p.guest), "sh", file)
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() != 125 {
		err = nil // the script's status is the last job's
	}
	if err != nil {
		return nil, "", err
	}
	return parseOutcomes(out)
}

func parseOutcomes(out string) (outcomes map[string]outcome, kernel string, err error) {
	outcomes = map[string]outcome{}
	name, text := "", []string(nil)
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case name == "" && strings.HasPrefix(line, "kernel "):
			kernel = strings.TrimPrefix(line, "kernel ")
		case strings.HasPrefix(line, jobBegins):
			name, text = strings.TrimPrefix(line, jobBegins), nil
		case strings.HasPrefix(line, jobEnds) && name != "":
			outcomes[name] = outcome{strings.Join(text, "\n"), strings.TrimPrefix(line, jobEnds)}
			name = ""
		default:
			text = append(text, line)
		}
	}
	if name != "" || kernel == "" {
		return nil, "", fmt.Errorf("the guest ended in the middle of %s:\n%s", name, tail(out, 20))
	}
	return outcomes, kernel, nil
}
