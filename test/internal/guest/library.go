package guest

import (
	"os"
	"path/filepath"
)

// ProvidersNames are the folders with the files that name providers: the system's, and that of the library that the
// tests are given in place of the system's, where it has one.
func ProvidersNames() []string {
	return append([]string{"/etc/libibverbs.d"}, ownFolder("../etc/libibverbs.d")...)
}

// Providers are the folders with the providers: those of the library that the tests are given, or the system's.
func Providers() ([]string, error) {
	if own := ownFolder("libibverbs"); own != nil {
		return own, nil
	}
	return filepath.Glob("/usr/lib*/*/libibverbs")
}

// ownFolder is a folder beside the library that the tests are given, if it is there.
func ownFolder(beside string) []string {
	library := os.Getenv("GOVERBS_LIBIBVERBS")
	folder := filepath.Join(filepath.Dir(library), beside)
	if _, err := os.Stat(folder); !filepath.IsAbs(library) || err != nil {
		return nil
	}
	return []string{folder}
}

// Hide is a shell's commands to have nothing in folders, and no provider named in the environment.
func Hide(folders ...string) (commands string) {
	for _, folder := range folders {
		commands += "mount -t tmpfs none " + folder + "; "
	}
	return commands + "unset RDMAV_DRIVERS IBV_DRIVERS; "
}
