package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// configuration gives apt folders of its own, in which nothing is installed: an
// older suite has older versions, and another processor's none of what is here.
// What the machine allows against signatures is not allowed here, and what it
// does after an update is for its own lists.
const configuration = `Dir::Etc::SourceList "%[1]s/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "%[1]s";
Dir::State::Lists "%[1]s/lists";
Dir::State::Status "%[1]s/status";
Dir::Cache "%[1]s";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Debug::NoLocking "true";
#clear APT::Architectures;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Default-Release;
APT::Architecture "%[2]s";
APT::Architectures { "%[2]s"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::GzipIndexes "true";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Languages "none";
Acquire::Retries "2";
`

// apt runs one of apt's programs in a folder and returns what it says.
func (s *suite) apt(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"-q", "-c", filepath.Join(s.dir, "apt.conf")}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out), nil
}

// update has the suite's list of packages, of the last day or a new one.
func (s *suite) update(ctx context.Context) error {
	stamp := filepath.Join(s.dir, "updated")
	if fresh(stamp) {
		return nil
	}
	source, err := Archive()
	if err != nil {
		return err
	}
	if err := s.updateFrom(ctx, source); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(stamp), os.WriteFile(stamp, nil, 0o644))
}

func (s *suite) updateFrom(ctx context.Context, source Source) error {
	if err := os.MkdirAll(filepath.Join(s.dir, "lists", "partial"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"sources.list": source.line(s.name),
		"apt.conf":     fmt.Sprintf(configuration, s.dir, s.arch),
		"status":       "",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err := s.apt(ctx, s.dir, "apt-get", "--error-on=any", "update")
	return err
}

// resolve downloads packages with what they depend on into a folder.
func (s *suite) resolve(ctx context.Context, dir string, packages []string) error {
	if err := errors.Join(s.update(ctx), os.Mkdir(filepath.Join(dir, "partial"), 0o755)); err != nil {
		return err
	}
	_, err := s.apt(ctx, dir, "apt-get", append([]string{"-o", "Dir::Cache::archives=" + dir, "--download-only", "--yes", "install"}, packages...)...)
	return err
}

// download downloads packages alone into a folder.
func (s *suite) download(ctx context.Context, dir string, packages []string) error {
	if err := s.update(ctx); err != nil {
		return err
	}
	_, err := s.apt(ctx, dir, "apt-get", append([]string{"download"}, packages...)...)
	return err
}

func (s *suite) depends(ctx context.Context, name string) ([]string, error) {
	if err := s.update(ctx); err != nil {
		return nil, err
	}
	out, err := s.apt(ctx, s.dir, "apt-cache", "--important", "depends", name)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		if kind, dependence, found := strings.Cut(strings.TrimSpace(line), ": "); found && strings.TrimLeft(kind, "|") == "Depends" {
			names = append(names, strings.Trim(dependence, "<>"))
		}
	}
	return names, nil
}
