// Package docs tests what is written about goverbs.
package docs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

var write = flag.Bool("write", false, "write what is made from code: tables of pages, and the API")

// pages are all pages for people, by their files.
func pages(t *testing.T) []string {
	var all []string
	for _, pattern := range []string{"*.md", "../*.md", "../bench/*.md", "../test/*/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.Greater(t, len(all), 6)
	return all
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// What a page links to is there: the file, and the heading in it.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages(t) {
		links := link.FindAllStringSubmatch(read(t, page), -1)
		for _, l := range links {
			file, heading, _ := strings.Cut(l[1], "#")
			if strings.Contains(file, ":") {
				continue // elsewhere
			}
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			_, err := os.Stat(target)
			assert.NoError(t, err, "%s links to it", page)
			if err == nil && heading != "" {
				assert.Contains(t, anchors(read(t, target)), heading, "%s links to %s", page, l[1])
			}
		}
	}
}

// anchors are the names that headings have in links.
func anchors(text string) []string {
	var all []string
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(h[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// The page that tells why nothing arrives has every status of a completion and every asynchronous event.
func TestStatusesAndEvents(t *testing.T) {
	rows := map[string]bool{}
	for line := range strings.Lines(read(t, "nothing-arrives.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, name := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(cells[1], -1) {
			rows[name[1]] = true
		}
	}
	known := 0
	for v := range 64 {
		for _, name := range []struct{ value, prefix string }{
			{fmt.Sprint(ibv.WCStatus(v)), "IBV_WC_"},
			{fmt.Sprint(ibv.EventType(v)), "IBV_EVENT_"},
		} {
			if short, ok := strings.CutPrefix(name.value, name.prefix); ok {
				known++
				assert.True(t, rows[short], "%s has no row", name.value)
			}
		}
	}
	require.Greater(t, known, 40)
}

// Programs and tests in the README are the examples', word by word but for the comment in front of a program: those are
// built and run.
func TestPrograms(t *testing.T) {
	blocks := programs(read(t, "../README.md"))
	examples, err := filepath.Glob("../examples/*/*.go")
	require.NoError(t, err)
	whole, tests := 0, 0
	for _, file := range examples {
		text := strings.ReplaceAll(read(t, file), "\t", "    ")
		program := text[strings.Index(text, "package "):]
		for i, block := range blocks {
			switch {
			case block == "":
			case block == program:
				whole++
				blocks[i] = ""
			case strings.HasPrefix(block, "func Test") && strings.Contains(text, "\n"+block):
				tests++
				blocks[i] = ""
			}
		}
	}
	require.Positive(t, whole)
	require.Positive(t, tests)
	for _, block := range blocks {
		assert.Empty(t, block, "the README has a program that is no example")
	}
}

// programs are the indented blocks of a page that are whole files in Go, or tests.
func programs(page string) []string {
	var all []string
	var block strings.Builder
	for line := range strings.Lines(page + "end\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case indented:
			block.WriteString(code)
		case strings.TrimSpace(line) == "":
			block.WriteString("\n")
		default:
			if text := strings.TrimSpace(block.String()) + "\n"; strings.HasPrefix(text, "package ") || strings.HasPrefix(text, "func Test") {
				all = append(all, text)
			}
			block.Reset()
		}
	}
	return all
}

// The program of package ibv's page compiles.
func TestReceiveLoopCompiles(t *testing.T) {
	found := programs(read(t, "ibv.md"))
	require.Len(t, found, 1)
	require.Contains(t, found[0], "chain.Post(qp)")
	file := filepath.Join(t.TempDir(), "receive.go")
	require.NoError(t, os.WriteFile(file, []byte(found[0]), 0o600))
	out, err := exec.Command("go", "vet", file).CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, found[0])
}
