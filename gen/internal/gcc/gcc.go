// Package gcc asks GNU C compilers, the machine's own and its cross compilers,
// what they make of C. It is the independent truth that tests hold the
// generator against; the generator itself asks no compiler.
//
// No foreign program is run: the answers are the initial values of objects,
// read from the object files.
package gcc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Compiler is a C compiler for one processor, on Linux.
type Compiler struct {
	Arch    string // a GOARCH
	command []string
	hosted  []string // its options where it compiles for a C library
}

// compilers lists the commands that compile for a processor, and the Debian
// package that has the cross compiler.
var compilers = map[string]struct{ command, debian string }{
	"386":     {"i686-linux-gnu-gcc", "gcc-i686-linux-gnu"},
	"amd64":   {"x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"},
	"arm":     {"arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"},
	"arm64":   {"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"},
	"loong64": {"loongarch64-linux-gnu-gcc", "gcc-loongarch64-linux-gnu"},
	"ppc64le": {"powerpc64le-linux-gnu-gcc", "gcc-powerpc64le-linux-gnu"},
	"riscv64": {"riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"},
	"s390x":   {"s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu"},
}

// For finds the compiler for a processor. Its error says what to install.
func For(arch string) (*Compiler, error) {
	known, ok := compilers[arch]
	if !ok {
		return nil, fmt.Errorf("no C compiler is known for %s", arch)
	}
	command := known.command
	if _, err := exec.LookPath(command); err == nil {
		return &Compiler{Arch: arch, command: []string{command}}, nil
	}
	if arch == runtime.GOARCH {
		if _, err := exec.LookPath("gcc"); err == nil {
			return &Compiler{Arch: arch, command: []string{"gcc"}}, nil
		}
		return nil, errors.New("this test compares with gcc, which is not installed; on Debian: apt install gcc")
	}
	return nil, fmt.Errorf("this test compares with gcc for %s, but there is no %s; on Debian: apt install %s", arch, command, known.debian)
}

// Hosted is the compiler for a processor with the headers of its C library: glibc,
// or musl, of which there is the machine's own processor only.
func Hosted(arch, libc string) (*Compiler, error) {
	c, err := For(arch)
	if arch == "loong64" && err != nil {
		c, err = unpacked()
	}
	if err == nil && libc == "musl" {
		// The kernel's headers are the machine's: musl comes with none.
		kernel := []string{"-idirafter", "/usr/include", "-idirafter", "/usr/include/" + c.triple()}
		c = &Compiler{Arch: arch, command: []string{"musl-gcc"}, hosted: kernel}
		if _, err := exec.LookPath("musl-gcc"); err != nil || arch != runtime.GOARCH {
			return nil, fmt.Errorf("this test compares with gcc for %s and musl, but there is no musl-gcc for it; on Debian: apt install musl-tools", arch)
		}
	}
	if err != nil {
		return nil, err
	}
	c.hosted = append(c.hosted, "-fhosted")
	return c, nil
}

// unpacked is the compiler that test/loong64 has unpacked.
func unpacked() (*Compiler, error) {
	_, self, _, _ := runtime.Caller(0)
	cache := os.Getenv("GOVERBS_CACHE")
	if cache == "" {
		cache = filepath.Join(filepath.Dir(self), "../../../.cache")
	}
	found, err := filepath.Glob(filepath.Join(cache, "loong64-*/usr/bin", compilers["loong64"].command))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("there is no %s on the PATH, and test/loong64 has unpacked none into %s", compilers["loong64"].command, cache)
	}
	return &Compiler{Arch: "loong64", command: found}, nil
}

func (c *Compiler) triple() string { return strings.TrimSuffix(compilers[c.Arch].command, "-gcc") }

// Accepts reports whether the compiler compiles a C source, and what it says
// if it does not. Headers are looked for in dirs.
func (c *Compiler) Accepts(source string, dirs ...string) (bool, string, error) {
	var said bytes.Buffer
	cmd := c.run(source, dirs, "-fsyntax-only")
	cmd.Stderr = &said
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return false, said.String(), nil
	}
	return err == nil, "", err
}

// Macros are the macros that the compiler defines before it reads anything; the
// name of a function-like macro includes its parameters.
func (c *Compiler) Macros() (map[string]string, error) {
	out, err := c.preprocess("", "-dM")
	if err != nil {
		return nil, err
	}
	macros := map[string]string{}
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "#define "); ok {
			name, value, _ := strings.Cut(text, " ")
			macros[name] = value
		}
	}
	return macros, nil
}

// Preprocess is a C source after its preprocessing, without the marks of lines.
// Headers are looked for in dirs.
func (c *Compiler) Preprocess(source string, dirs ...string) (string, error) {
	args := []string{"-P"}
	for _, dir := range dirs {
		args = append(args, "-I", dir)
	}
	return c.preprocess(source, args...)
}

func (c *Compiler) preprocess(source string, args ...string) (string, error) {
	var said bytes.Buffer
	cmd := exec.Command(c.command[0], append(args, "-E", "-std=gnu17", "-w", "-x", "c", "-")...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(source), &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s -E: %w\n%s", c.command[0], err, said.String())
	}
	return string(out), nil
}

// Objects compiles a C source and returns the initial bytes of its global
// objects by name. Headers are looked for in dirs.
func (c *Compiler) Objects(source string, dirs ...string) (*Objects, error) {
	work, err := os.MkdirTemp("", "gcc")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	object := filepath.Join(work, "objects.o")
	// Objects that are zero would have no bytes in the file otherwise.
	out, err := c.run(source, dirs, "-c", "-O0", "-fno-zero-initialized-in-bss", "-o", object).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", c.command[0], err, out)
	}
	return read(object)
}

func (c *Compiler) run(source string, dirs []string, args ...string) *exec.Cmd {
	// Freestanding: a cross compiler may come without a C library.
	environment := []string{"-ffreestanding"}
	if c.hosted != nil {
		environment = c.hosted
	}
	args = append(append(args, environment...), "-std=gnu17", "-w", "-x", "c", "-")
	for _, dir := range dirs {
		args = append(args, "-I", dir)
	}
	cmd := exec.Command(c.command[0], args...)
	cmd.Stdin = bytes.NewReader([]byte(source))
	return cmd
}

// Objects is what an object file holds.
type Objects struct {
	Order binary.ByteOrder
	bytes map[string][]byte
}

// Bytes is the initial value of a global object.
func (o *Objects) Bytes(name string) ([]byte, error) {
	b, ok := o.bytes[name]
	if !ok {
		return nil, fmt.Errorf("the object file has no object %s", name)
	}
	return b, nil
}

// Numbers is the initial value of a global array of long long.
func (o *Objects) Numbers(name string) ([]int64, error) {
	b, err := o.Bytes(name)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, len(b)/8)
	for i := range numbers {
		numbers[i] = int64(o.Order.Uint64(b[8*i:]))
	}
	return numbers, nil
}

func read(object string) (*Objects, error) {
	f, err := elf.Open(object)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", object, err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("reading the symbols of %s: %w", object, err)
	}
	out := &Objects{Order: f.ByteOrder, bytes: map[string][]byte{}}
	sections := map[elf.SectionIndex][]byte{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_OBJECT || int(s.Section) >= len(f.Sections) {
			continue
		}
		data, ok := sections[s.Section]
		if !ok {
			if data, err = f.Sections[s.Section].Data(); err != nil {
				return nil, fmt.Errorf("reading the data of %s: %w", object, err)
			}
			sections[s.Section] = data
		}
		if s.Value+s.Size > uint64(len(data)) {
			return nil, fmt.Errorf("reading %s: the object %s ends outside its section", object, s.Name)
		}
		out.bytes[s.Name] = data[s.Value : s.Value+s.Size]
	}
	return out, nil
}

// Name is the command by which the compiler is called.
func (c *Compiler) Name() string { return c.command[0] }
