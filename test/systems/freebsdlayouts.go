package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// What is compiled for FreeBSD differs in two ways: in what its headers say, and in how its kernel is talked to. A build
// for Linux with the first only runs FreeBSD's layouts and calls with a libibverbs that was compiled for Linux, and has
// these layouts. The go command takes such a build by an overlay, which leaves the source as it is.

var (
	buildLine    = regexp.MustCompile(`(?m)^//go:build .*$`)
	freeBSDWord  = regexp.MustCompile(`\bfreebsd\b`)
	forFreeBSD   = regexp.MustCompile(`^(.*)_freebsd(_test)?\.go$`)
	withoutFiles = []string{".git", ".cache", "bench", "gen", "testdata"}
)

// freeBSDLayouts writes an overlay for the go command into a folder: it makes a build for Linux of what a build for
// FreeBSD is made of. A file of FreeBSD's that has another for Linux beside it is about the kernel, and stays out.
func freeBSDLayouts(root, dir string) (overlay string, err error) {
	replace := map[string]string{} // "" is a file that is not there
	add := func(path, text string) error {
		file := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		replace[path] = file
		return os.WriteFile(file, []byte(text), 0o644)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			for _, name := range withoutFiles {
				if d.Name() == name {
					return filepath.SkipDir
				}
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		said := buildLine.FindString(string(text))
		want := freeBSDWord.ReplaceAllString(said, "linux")
		changed := strings.Replace(string(text), said, want, 1)
		folder, name := filepath.Split(path)
		if m := forFreeBSD.FindStringSubmatch(name); m != nil {
			if _, err := os.Stat(filepath.Join(folder, m[1]+"_linux.go")); err == nil {
				return nil
			}
			replace[path] = ""
			return add(filepath.Join(folder, m[1]+"_onlinux"+m[2]+".go"), changed)
		}
		if want == said {
			return nil
		}
		return add(path, changed)
	})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}
