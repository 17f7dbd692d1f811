package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// factsOfClone writes a facts file for each tag of a clone of rdma-core.
func (in *input) factsOfClone(clone, pattern, out string, stdout io.Writer) error {
	names, err := git(clone, "tag", "--list", "--sort=version:refname", pattern)
	if err != nil {
		return err
	}
	tags := strings.Fields(string(names))
	if len(tags) == 0 {
		return fmt.Errorf("%s has no tag like %q", clone, pattern)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("writing facts: %w", err)
	}
	if len(in.targets) == 0 {
		in.targets = list{"linux/amd64"}
	}
	var failed []error
	for _, tag := range tags {
		name := filepath.Join(out, strings.TrimPrefix(tag, "v")+".json.gz")
		if err := in.factsOfTag(clone, tag, name); err != nil {
			fmt.Fprintf(stdout, "%s: %v\n", tag, err)
			failed = append(failed, fmt.Errorf("%s", tag))
			continue
		}
		fmt.Fprintf(stdout, "%s: %s written\n", tag, name)
	}
	if failed != nil {
		return fmt.Errorf("no facts of %d of %d tags: %w", len(failed), len(tags), errors.Join(failed...))
	}
	return nil
}

// factsOfTag reads the headers of one release as rdma-core installs them.
func (in *input) factsOfTag(clone, tag, name string) error {
	tmp, err := os.MkdirTemp("", "gen-headers-")
	if err != nil {
		return fmt.Errorf("unpacking headers: %w", err)
	}
	defer os.RemoveAll(tmp)
	archive, err := git(clone, "archive", tag)
	if err != nil {
		return err
	}
	if err := installHeaders(bytes.NewReader(archive), tmp); err != nil {
		return fmt.Errorf("unpacking headers: %w", err)
	}
	one := *in
	one.dirs, one.version = list{tmp}, strings.TrimPrefix(tag, "v")
	all, err := one.read()
	if err != nil {
		return err
	}
	return writeFactsFile(name, all)
}

// installedFrom says which folders of rdma-core's sources hold headers that it
// installs, and where to.
var installedFrom = map[string]string{
	"libibmad":            "infiniband",
	"libibnetdisc":        "infiniband",
	"libibumad":           "infiniband",
	"libibverbs":          "infiniband",
	"librdmacm":           "rdma",
	"kernel-headers/rdma": "rdma",
	"providers/efa":       "infiniband",
	"providers/hns":       "infiniband",
	"providers/ionic":     "infiniband",
	"providers/mana":      "infiniband",
	"providers/mlx4":      "infiniband",
	"providers/mlx5":      "infiniband",
}

// apart are headers that are installed elsewhere than those beside them.
var apart = map[string]string{"librdmacm/acm.h": "infiniband", "librdmacm/ib.h": "infiniband"}

// kernelCopies are kernel headers that are installed beside the library's.
var kernelCopies = map[string]bool{"ib_user_ioctl_verbs.h": true, "mlx5_user_ioctl_verbs.h": true}

// isInstalled tells a header that users see from one that a library keeps to
// itself: of a provider only its direct verbs are meant for users.
func isInstalled(from, file string) bool {
	if strings.HasPrefix(from, "providers/") {
		return strings.HasSuffix(file, "dv.h") || strings.HasSuffix(file, "_api.h")
	}
	return strings.HasSuffix(file, ".h")
}

// installHeaders puts the headers of an archive of rdma-core where they are
// installed to, under dir.
func installHeaders(archive io.Reader, dir string) error {
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		from, file := path.Split(path.Clean(h.Name))
		from = strings.TrimSuffix(from, "/")
		to, ok := installedFrom[from]
		if !ok || h.Typeflag != tar.TypeReg || !isInstalled(from, file) {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if other := apart[path.Join(from, file)]; other != "" {
			to = other
		}
		places := []string{to}
		if from == "kernel-headers/rdma" && kernelCopies[file] {
			places = append(places, "infiniband")
		}
		for _, place := range places {
			if err := os.MkdirAll(filepath.Join(dir, place), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, place, file), text, 0o644); err != nil {
				return err
			}
		}
	}
}

// git runs git in a clone and returns what it prints.
func git(clone string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", clone}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s in %s: %w\n%s", args[0], clone, err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
