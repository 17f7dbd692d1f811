package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A session is one run of the command.
type session struct {
	ctx                context.Context
	root               string // the project's
	work               string // a folder for what is only needed meanwhile
	part               string // the one that runs
	brief              bool
	libraries, headers []pair
	seen               []record
	built              map[string]binaries
	gen                string // the generator, once it is built
}

func newSession() (*session, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	work, err := os.MkdirTemp("", "goverbs-systems")
	if err != nil {
		return nil, err
	}
	return &session{ctx: context.Background(), root: strings.TrimSpace(string(out)), work: work, built: map[string]binaries{}}, nil
}

func (s *session) close() { os.RemoveAll(s.work) }

// saw writes a record down, with today's date and the part that is under way.
func (s *session) saw(r record) {
	r.Part, r.Date = s.part, time.Now().UTC().Format(time.DateOnly)
	s.seen = append(s.seen, r)
	fmt.Println("   ", r)
}

// failures are an error for each record of something that failed.
func (s *session) failures() (all []error) {
	for _, r := range s.seen {
		if r.Failed > 0 {
			all = append(all, errors.New(r.String()))
		}
	}
	return all
}

// command runs a program in the project's root, and gives both outputs as one.
func (s *session) command(env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // a guest ends what it runs
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, tail(string(out), 30))
	}
	return string(out), err
}

// tail is the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
