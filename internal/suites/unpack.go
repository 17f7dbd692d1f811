package suites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mergeUsr makes the links that another package than the libraries brings. A
// newer C library is under usr alone, though its programs name it without.
func mergeUsr(dir string) error {
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.MkdirAll(filepath.Join(dir, "usr", name), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("usr/"+name, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// unpack does not leave it to dpkg-deb, which puts folders in place of the links.
func unpack(ctx context.Context, dir, deb string) error {
	from := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	to := exec.CommandContext(ctx, "tar", "-x", "-C", dir, "--keep-directory-symlink", "--no-same-owner")
	var fromSays, toSays strings.Builder
	from.Stderr, to.Stderr = &fromSays, &toSays
	pipe, err := from.StdoutPipe()
	if err != nil {
		return err
	}
	to.Stdin = pipe
	if err := from.Start(); err != nil {
		return err
	}
	toErr := to.Run()
	// What tar did not read is read no more, and dpkg-deb ends.
	_ = pipe.Close()
	if err := from.Wait(); err != nil {
		return errors.Join(fmt.Errorf("dpkg-deb: %w\n%s", err, fromSays.String()), toErr)
	}
	if toErr != nil {
		return fmt.Errorf("tar: %w\n%s", toErr, toSays.String())
	}
	return nil
}

// keepLinksWithin makes links relative that begin at the root, which is the machine's for who does not enter the folder:
// bullseye's libresolv.so is one.
func keepLinksWithin(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type() != fs.ModeSymlink {
			return err
		}
		target, err := os.Readlink(path)
		if err != nil || !filepath.IsAbs(target) {
			return err
		}
		relative, err := filepath.Rel(filepath.Dir(path), filepath.Join(dir, target))
		if err != nil {
			return err
		}
		return errors.Join(os.Remove(path), os.Symlink(relative, path))
	})
}
