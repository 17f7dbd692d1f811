package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const factsName = "zz_generated.facts.json.gz"

// kind is how C has a function.
type kind string

const (
	exported kind = "function" // the library has a symbol for it
	inline   kind = "inline"   // the header defines it
	macro    kind = "macro"    // the preprocessor knows it
)

// cFunction is a function of the headers.
type cFunction struct {
	name  string
	kind  kind
	since string // the release that brought it, "" for the first ones that are known
	// shadowed tells that C code that names the function gets a macro.
	shadowed bool
	// unseen tells that the facts do not have it, and so neither since when nor where.
	unseen  bool
	linux   bool
	freeBSD bool
}

// factsFile is what is of interest here of the facts' JSON: see gen/internal/abi. Those of all targets but the first are
// what differs from those of another one.
type factsFile struct {
	First  factsOf
	Others []struct {
		On      int
		Without []string
		Facts   factsOf
	}
}

type factsOf struct {
	GOOS      string
	Since     map[string]string
	Functions []struct {
		Name, Kind, Header string
		ShadowedByMacro    bool `json:"shadowed_by_macro"`
	}
}

// readFacts reads the functions that the facts in a folder have, in the order of their names.
func readFacts(dir string) ([]*cFunction, error) {
	file, err := os.Open(filepath.Join(dir, factsName))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	var facts factsFile
	if err := json.NewDecoder(text).Decode(&facts); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return facts.functions()
}

func (f *factsFile) functions() ([]*cFunction, error) {
	const folder = "infiniband/"
	all := map[string]*cFunction{}
	add := func(target factsOf, names map[string]bool) {
		for _, fn := range target.Functions {
			if !strings.HasPrefix(fn.Header, folder) {
				continue
			}
			names[fn.Name] = true
			if all[fn.Name] == nil {
				c := &cFunction{name: fn.Name, kind: inline, shadowed: fn.ShadowedByMacro}
				if fn.Kind == "extern" {
					c.kind = exported
				}
				all[fn.Name] = c
			}
		}
		for name := range names {
			c := all[name]
			c.linux = c.linux || target.GOOS == "linux"
			c.freeBSD = c.freeBSD || target.GOOS == "freebsd"
			if since := target.Since["function "+name]; since != "" && target.GOOS == "linux" {
				c.since = since
			}
		}
	}
	targets := []map[string]bool{{}}
	add(f.First, targets[0])
	for _, other := range f.Others {
		if other.On < 0 || other.On >= len(targets) {
			return nil, fmt.Errorf("a target of the facts is on number %d, and there are %d before it", other.On, len(targets))
		}
		names := maps.Clone(targets[other.On])
		for _, id := range other.Without {
			delete(names, strings.TrimPrefix(id, "function "))
		}
		add(other.Facts, names)
		targets = append(targets, names)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the facts have no functions of %s", folder)
	}
	return sorted(all), nil
}

func sorted(all map[string]*cFunction) []*cFunction {
	return slices.SortedFunc(maps.Values(all), func(a, b *cFunction) int { return strings.Compare(a.name, b.name) })
}
