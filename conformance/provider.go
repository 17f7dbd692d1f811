package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/goverbs/goverbs/internal/dl"
	"github.com/goverbs/goverbs/rdma"
)

// Provider is what is known of the code behind a device.
type Provider struct {
	// Name is as in the name of its file, such as rxe or mlx5, or "" if it is not known.
	Name string
	// Release is rdma-core's, such as 44, or 0 if its files do not say.
	Release int
	// Linux is the kernel's release, or zero if it is another or does not tell.
	Linux Linux
	// IWARP says that the device speaks iWARP.
	IWARP bool
}

// Linux is a release of the kernel: {6, 12}.
type Linux struct{ Major, Minor int }

func (l Linux) before(other Linux) bool {
	return l.Major < other.Major || l.Major == other.Major && l.Minor < other.Minor
}

// String is the release as the kernel's file names it.
func (l Linux) String() string { return fmt.Sprintf("%d.%d", l.Major, l.Minor) }

// runningLinux reads it.
func runningLinux() (l Linux) {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return l
	}
	if _, err := fmt.Sscanf(string(release), "%d.%d", &l.Major, &l.Minor); err != nil {
		return Linux{}
	}
	return l
}

// String is all that is known.
func (p Provider) String() string {
	text := "a provider that is not known"
	if p.Name != "" {
		text = "provider " + p.Name
	}
	if p.Release != 0 {
		text += fmt.Sprintf(" of rdma-core %d", p.Release)
	}
	if p.IWARP {
		text += ", iWARP"
	}
	if p.Linux != (Linux{}) {
		text += ", on Linux " + p.Linux.String()
	}
	return text
}

// known reports whether the table of differences has all about it.
func (p Provider) known() bool { return slices.Contains(judged, p.Name) }

var (
	providerFile = regexp.MustCompile(`^lib([a-z0-9_]+?)(?:-rdmav\d+)?\.so`)
	libraryFile  = regexp.MustCompile(`^libibverbs\.so\.1\.\d+\.(\d+)\.\d+$`)
)

// providerOf finds out by the files that its functions are in.
func providerOf(dev *rdma.Device) Provider {
	raw := dev.Raw()
	p := Provider{IWARP: raw.Device.IsIWARP(), Linux: runningLinux()}
	poll := uintptr(raw.Ops.PollCQ)
	if poll < pageZero {
		p.Name = inProcess
		return p
	}
	if found := providerFile.FindStringSubmatch(filepath.Base(dl.FileOf(poll))); found != nil {
		p.Name = found[1]
	}
	lib, err := dl.Load()
	if err != nil {
		return p
	}
	symbol, err := lib.Symbol("ibv_get_device_list")
	if err != nil {
		return p
	}
	path := dl.FileOf(symbol)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if found := libraryFile.FindStringSubmatch(filepath.Base(path)); found != nil {
		p.Release, _ = strconv.Atoi(found[1])
	}
	return p
}

// Devices of package ibvtest have numbers for functions, which no code can live at.
const (
	pageZero  = 4096
	inProcess = "ibvtest"
)
