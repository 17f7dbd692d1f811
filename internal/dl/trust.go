package dl

import (
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// withheld says why the environment does not choose what is loaded, or is "". A program that has rights which whoever
// started it need not have, because its file is set-user-ID, set-group-ID or has capabilities, would give them away: a
// library's code runs when it is loaded. The dynamic linker does the same with LD_LIBRARY_PATH.
var withheld = sync.OnceValue(func() string {
	if !loads || !privileged() {
		return ""
	}
	return "this program has rights that whoever started it need not have (set-user-ID, set-group-ID or capabilities of its file)"
})

// privileged asks the C library what the kernel said when the program was started. Where it has no answer, the user and
// the group have to be those that started it.
func privileged() bool {
	const secure = 23 // AT_SECURE of Linux
	for _, question := range []struct {
		function string
		argument uintptr
		system   string
	}{
		{"getauxval", secure, "linux"},
		{"issetugid", 0, "freebsd"},
	} {
		if question.system == runtime.GOOS {
			if function, err := findSymbol(everywhere, question.function); err == nil {
				answer, _ := Call(function, question.argument)
				return answer != 0
			}
		}
	}
	return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid()
}

// environment is a variable that chooses what is loaded.
func environment(name string) string {
	if withheld() != "" {
		return ""
	}
	return os.Getenv(name)
}

// followed are the variables by which libibverbs and its providers load libraries, look for devices elsewhere, or write to
// files. At most the user's number keeps libibverbs from following them, which is no other one with set-group-ID and with
// capabilities.
var followed = []string{"RDMAV_DRIVERS", "IBV_DRIVERS", "SYSFS_PATH", "VERBS_LOG_FILE", "MLX5_DEBUG_FILE", "QELR_DEBUG_FILE"}

// withhold takes those out of the environment that C sees, where it is not to be trusted. Go's stays as it is.
var withhold = sync.OnceFunc(func() {
	if withheld() != "" {
		clearFollowed()
	}
})

func clearFollowed() {
	unsetenv, err := findSymbol(everywhere, "unsetenv")
	if err != nil {
		return
	}
	for _, name := range followed {
		text := append([]byte(name), 0)
		Call(unsetenv, uintptr(unsafe.Pointer(&text[0])))
	}
}
