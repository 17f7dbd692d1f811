package suites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// day is how long anything is kept: suites that are worked on change daily.
const day = 24 * time.Hour

// A suite is the folder of one suite and processor, locked.
type suite struct {
	name, arch string // arch as Debian names it
	dir        string
	lock       *os.File
}

// debianArch is Debian's name of Go's processor.
func debianArch(arch string) string {
	switch arch {
	case "":
		return debianArch(runtime.GOARCH)
	case "ppc64le":
		return "ppc64el"
	case "386":
		return "i386"
	case "arm":
		return "armhf"
	}
	return arch
}

func open(ctx context.Context, name, arch string) (*suite, error) {
	cache, err := cache()
	if err != nil {
		return nil, err
	}
	s := &suite{name: name, arch: debianArch(arch)}
	s.dir = filepath.Join(cache, "suites", s.name+"-"+s.arch)
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	if s.lock, err = lock(ctx, filepath.Join(s.dir, "lock")); err != nil {
		return nil, s.failed(err, nil)
	}
	return s, nil
}

// cache is absolute, because apt and chroot run elsewhere.
func cache() (string, error) {
	if dir := os.Getenv("GOVERBS_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module's root, because GOVERBS_CACHE is not set: %w", err)
	}
	return filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), ".cache"), nil
}

// lock waits until nobody else has the file locked, in this program or another.
func lock(ctx context.Context, name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		locked, err := tryLock(file)
		if locked {
			return file, nil
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for the lock on %s: %w", name, ctx.Err()), file.Close())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *suite) close() { _ = s.lock.Close() }

func (s *suite) failed(err error, packages []string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("have %s of %s for %s: %w", strings.Join(packages, ", "), s.name, s.arch, err)
}

// kept is the folder of the kind for these packages: the one of the last day, or
// one that is filled now. It is made aside, so that it is never half there. An older one does where the archive does not
// answer: a machine that is not on the net today has what it had.
func (s *suite) kept(ctx context.Context, kind string, packages []string, fill func(context.Context, string, []string) error) (string, error) {
	if len(packages) == 0 {
		return "", errors.New("no packages are named")
	}
	names := slices.Sorted(slices.Values(packages))
	for _, name := range append([]string{s.name}, names...) {
		if strings.ContainsAny(name, "/ \n") || strings.HasPrefix(name, "-") || name == "" {
			return "", fmt.Errorf("%q is no package's or suite's name", name)
		}
	}
	dir := filepath.Join(s.dir, kind, strings.Join(names, ","))
	if fresh(dir) {
		return dir, nil
	}
	aside := filepath.Join(s.dir, "making")
	if err := errors.Join(os.RemoveAll(aside), os.MkdirAll(aside, 0o755), os.MkdirAll(filepath.Dir(dir), 0o755)); err != nil {
		return "", err
	}
	if err := fill(ctx, aside, names); err != nil {
		if exists(dir) && ctx.Err() == nil {
			return dir, nil
		}
		return "", err
	}
	now := time.Now() // what was unpacked last set the folder's time to the package's
	if err := errors.Join(os.Chtimes(aside, now, now), os.RemoveAll(dir)); err != nil {
		return "", err
	}
	return dir, os.Rename(aside, dir)
}

func fresh(name string) bool {
	info, err := os.Stat(name)
	return err == nil && time.Since(info.ModTime()) < day
}

// unpack fills a root.
func (s *suite) unpack(ctx context.Context, dir string, packages []string) error {
	work, err := os.MkdirTemp(s.dir, "archives.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := s.resolve(ctx, work, packages); err != nil {
		return err
	}
	debs, err := debFiles(work)
	if err != nil {
		return err
	}
	if err := Unpack(ctx, dir, debs...); err != nil {
		return err
	}
	for _, name := range []string{"proc", "sys", "dev", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func debFiles(dir string) ([]string, error) {
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err == nil && len(debs) == 0 {
		err = fmt.Errorf("apt left no packages in %s: %w", dir, fs.ErrNotExist)
	}
	return debs, err
}
