// Package suites has the packages of a distribution's suites, of any processor,
// unpacked beside each other and never installed: what Debian's bullseye, trixie
// and sid ship is seen and run on one machine. apt downloads them, from where it
// has the machine's own packages and with the same signatures; so there are none
// on machines without apt.
//
// What was had is kept for a day in the folder that GOVERBS_CACHE names, or in
// .cache at the module's root, and longer where the archive cannot be had. Any number of programs and goroutines may ask at
// once; who asks for the same waits for who came first.
//
// Processors are named as Go names them.
package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/goverbs/goverbs/headers"
)

// A Source is an archive of packages.
type Source struct {
	Distribution string // as headers/systems.txt has it, "debian"
	URI          string
	Keyring      string // the file with the keys that it is signed with, or empty for all that apt trusts
}

// Archive is where this machine's apt has its own packages from. It is an error
// when there is no apt, or none of its lists is of a distribution in
// headers/systems.txt.
func Archive() (Source, error) { return archive() }

var archive = sync.OnceValues(func() (Source, error) {
	out, err := exec.Command("apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(COMPONENT)", "Created-By: Packages").Output()
	if err != nil {
		return Source{}, fmt.Errorf("ask apt for its archive (suites can be had on systems with apt only): %w", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 || f[2] != "main" {
			continue
		}
		source := Source{Distribution: strings.ToLower(f[0]), URI: f[1]}
		if len(source.Suites()) == 0 {
			continue
		}
		if file := "/usr/share/keyrings/" + source.Distribution + "-archive-keyring.gpg"; exists(file) {
			source.Keyring = file
		}
		return source, nil
	}
	return Source{}, errors.New("apt has no lists of a distribution in headers/systems.txt; apt-get update may help")
})

// Suites are those of the distribution that headers/systems.txt names, in its
// order: the oldest first.
func (s Source) Suites() []headers.System {
	return slices.DeleteFunc(headers.Systems(), func(system headers.System) bool { return system.Name != s.Distribution })
}

// line is the archive in apt's list of sources.
func (s Source) line(suite string) string {
	if s.Keyring != "" {
		return fmt.Sprintf("deb [signed-by=%s] %s %s main\n", s.Keyring, s.URI, suite)
	}
	return fmt.Sprintf("deb %s %s main\n", s.URI, suite)
}

// Root is a folder with the packages and all that they depend on, unpacked as
// they would be installed; none of their scripts has run. There are proc, sys,
// dev and tmp to enter it by chroot. The caller must not change what is in it:
// others use the same. Names that several releases have another package for
// (librdmacm1, librdmacm1t64) may be the one that the others provide.
func Root(ctx context.Context, suite, arch string, packages ...string) (dir string, err error) {
	s, err := open(ctx, suite, arch)
	if err != nil {
		return "", err
	}
	defer s.close()
	dir, err = s.kept(ctx, "root", packages, s.unpack)
	return dir, s.failed(err, packages)
}

// Download is the packages themselves, without what they depend on, in the order
// of their names. The files are not the caller's to change.
func Download(ctx context.Context, suite, arch string, packages ...string) (debs []string, err error) {
	s, err := open(ctx, suite, arch)
	if err != nil {
		return nil, err
	}
	defer s.close()
	dir, err := s.kept(ctx, "deb", packages, s.download)
	if err != nil {
		return nil, s.failed(err, packages)
	}
	return debFiles(dir)
}

// Depends is the names of the packages that one depends on, as a kernel's
// metapackage does on the newest kernel.
func Depends(ctx context.Context, suite, arch, name string) ([]string, error) {
	s, err := open(ctx, suite, arch)
	if err != nil {
		return nil, err
	}
	defer s.close()
	names, err := s.depends(ctx, name)
	return names, s.failed(err, []string{name})
}

// Unpack unpacks packages into a folder, in which lib, bin and the like are links
// into usr, as in installed systems. Links stay within the folder, from outside too,
// as compilers and emulators follow them.
func Unpack(ctx context.Context, dir string, debs ...string) error {
	if err := mergeUsr(dir); err != nil {
		return err
	}
	for _, deb := range debs {
		if err := unpack(ctx, dir, deb); err != nil {
			return fmt.Errorf("unpack %s: %w", deb, err)
		}
	}
	return keepLinksWithin(dir)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
