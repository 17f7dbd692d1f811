package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/goverbs/goverbs/bench/internal/device"
)

const stub = device.StubName

// method is how it was measured, for whoever doubts it.
const method = "" +
	"An operation is measured in rounds of up to 4096 work requests, after which the queue is emptied. Rounds of all\n" +
	"implementations are made in turn, in random order, in the same process, on the same queue, with the same work requests,\n" +
	"and every round is checked to have posted what it should. A process takes the median of its rounds; the tables have the\n" +
	"medians of several processes, and in brackets the median of how they compare in each. Time is the processor's own counter,\n" +
	"read in C around loops in C and in Go around the others, as a clock may be a system call. goverbs-fallback has processes\n" +
	"of its own, between the others, because a program decides for it when it starts.\n"

// Write writes the report as Markdown. plot is the path of the picture from
// where the report is.
func (s *Samples) Write(w io.Writer, plot string) error {
	devices := s.devices()
	if len(devices) == 0 {
		return fmt.Errorf("report: nothing was measured")
	}
	fmt.Fprint(w, "# What a post costs\n\n`make bench` writes this page: what posting and polling cost through goverbs, beside C and beside other ways of\n"+
		"calling C from Go. Nanoseconds for a call, and in brackets how many times the first column's.\n\n")
	fmt.Fprintf(w, "![Cost of a post by length of chain](%s)\n\n%s", plot, legend)
	for _, device := range devices {
		if device == stub {
			fmt.Fprint(w, "\n## In the process: stub\n\nA provider without a device, in C, whose posts do what Soft-RoCE's do for each work request.\n")
		} else {
			fmt.Fprintf(w, "\n## On a real device: %s\n\nSoft-RoCE under User Mode Linux, where programs run at the machine's own speed.\n\n", device)
			s.writeTargets(w, device)
		}
		for _, t := range titles {
			s.writeTable(w, device, t.op, t.title, t.note)
		}
		s.writeTraffic(w, device)
		s.writeWakeUps(w, device)
		s.writePreemption(w, device)
	}
	fmt.Fprintf(w, "\n## Method\n\n%s", method)
	if by, ok := s.setting("builds-timed-by"); ok {
		fmt.Fprintf(w, "\nLong chains are timed by the %s.\n", by)
	}
	fmt.Fprintf(w, "\nThis run: %s, %s, %s; %s.\n", s.value("goos"), s.value("goarch"), s.value("go"), s.value("machine"))
	return nil
}

// PlotDevice is the device to plot: a real one if there is one.
func (s *Samples) PlotDevice() string {
	if devices := s.devices(); len(devices) > 0 {
		return devices[0]
	}
	return stub
}

// devices is the real ones, and the stub last.
func (s *Samples) devices() []string {
	var devices []string
	for k := range s.ns {
		if !slices.Contains(devices, k.device) {
			devices = append(devices, k.device)
		}
	}
	slices.SortFunc(devices, func(a, b string) int {
		if (a == stub) != (b == stub) {
			if a == stub {
				return 1
			}
			return -1
		}
		if a < b {
			return -1
		}
		return 1
	})
	return devices
}

// value is what the machine says of itself.
func (s *Samples) value(name string) string {
	if v, ok := s.setting(name); ok {
		return v
	}
	return name + " unknown"
}

func (s *Samples) setting(name string) (value string, ok bool) {
	devices := s.devices()
	slices.Reverse(devices) // a guest's kernel hides much of the machine
	for _, device := range devices {
		if v, ok := s.config[device+"/"+name]; ok {
			return v, true
		}
	}
	return "", false
}
