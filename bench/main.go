// Command bench measures what posting and polling cost from Go with goverbs,
// beside C and beside other ways of calling C, and makes a table and a plot of
// it. make bench runs it.
//
//	bench measure [-device rxe0] [-only Ring,Poll]   measures, and prints what go test -bench would
//	bench report -o DIR FILE...                      makes results.md and posts.svg of what measure printed
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/measure"
	"github.com/goverbs/goverbs/bench/internal/report"
	"github.com/goverbs/goverbs/bench/internal/subject"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	const usage = "usage: bench measure|report, each with -h"
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet("bench "+args[0], flag.ExitOnError)
	switch args[0] {
	case "measure", "batch":
		device := flags.String("device", "", "the RDMA device to post to; a stub in the process if not given")
		batches := flags.Int("batches", 10, "processes to measure in, each a median")
		rounds := flags.Int("rounds", 21, "rounds of each implementation in a process")
		only := flags.String("only", "", "the operations to measure, by commas; all if not given: "+strings.Join(measure.Operations(), ","))
		flags.Parse(args[1:])
		ops, err := operations(*only)
		if err != nil {
			return err
		}
		if args[0] == "batch" {
			return batch(*device, *rounds, ops)
		}
		return conduct(*device, *batches, *rounds, ops)
	case "report":
		out := flags.String("o", ".", "the folder to write results.md and posts.svg to")
		flags.Parse(args[1:])
		return write(*out, flags.Args())
	default:
		return errors.New(usage)
	}
}

// operations takes a list apart.
func operations(list string) ([]string, error) {
	all := measure.Operations()
	if list == "" {
		return all, nil
	}
	ops := strings.Split(list, ",")
	for _, op := range ops {
		if !slices.Contains(all, op) {
			return nil, fmt.Errorf("no operation is called %q: there are %s", op, strings.Join(all, ", "))
		}
	}
	return ops, nil
}

// conduct measures in processes of its own: one half with the direct call,
// the other half without, for package ibv chooses when it starts; and each with
// its memory in other places. What concerns the scheduler has a process to itself.
func conduct(device string, batches, rounds int, ops []string) error {
	fmt.Printf("goos: %s\ngoarch: %s\ngo: %s\nmachine: %d processors\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	timed := slices.DeleteFunc(slices.Clone(ops), func(op string) bool { return op == measure.Preempt })
	for i := range batches {
		if len(timed) == 0 {
			break
		}
		fmt.Fprintf(os.Stderr, "batch %d of %d\n", i+1, batches)
		for _, env := range []string{"", subject.PortableEnv} {
			if err := start(device, rounds, timed, env); err != nil {
				return err
			}
		}
	}
	if len(timed) == len(ops) {
		return nil
	}
	fmt.Fprintln(os.Stderr, "stops and slices")
	return start(device, rounds, []string{measure.Preempt}, "")
}

// start runs a batch in a process, with a variable more in its environment.
func start(device string, rounds int, ops []string, env string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "batch", "-device", device, "-rounds", strconv.Itoa(rounds), "-only", strings.Join(ops, ","))
	cmd.Env = os.Environ()
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", env, strings.Join(cmd.Args, " "), err)
	}
	return nil
}

// batch is one process of conduct.
func batch(name string, rounds int, ops []string) (err error) {
	d, err := device.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return measure.Batch(os.Stdout, d, rounds, ops)
}

// write makes the report of what measure printed.
func write(dir string, files []string) error {
	var samples report.Samples
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		err = samples.Read(file, name)
		file.Close()
		if err != nil {
			return err
		}
	}
	const picture = "posts.svg"
	var page, plot bytes.Buffer
	if err := samples.Write(&page, picture); err != nil {
		return err
	}
	if err := samples.Plot(&plot, samples.PlotDevice()); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.md"), page.Bytes(), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, picture), plot.Bytes(), 0o666)
}
