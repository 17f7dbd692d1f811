//go:build !freebsd

package ibvtest

import "syscall"

// Provider is how a device's provider behaves where the man pages leave it open, or
// where providers do not keep to them. The zero Provider keeps to them.
type Provider struct {
	// Name is what the provider is called.
	Name string
	// Full is how a post to a full queue is refused, and TooLong how a work request is
	// that has more entries than the queue was made for. TooLong.Errno 0 is
	// syscall.EINVAL.
	Full, TooLong Refusal
	// NoEntries is how a receive without entries is refused, or nil if it is taken.
	NoEntries *Refusal
	// Reset is how a receive is refused in RESET, or nil if it is taken.
	Reset *Refusal
	// Attached is how a receive is refused by a queue pair that has a shared receive
	// queue.
	Attached Refusal
	// SendEarly is how a send is refused before RTS.
	SendEarly Refusal
	// Rounded has queues be larger than was asked for: 2^k-1, the next one.
	Rounded bool
	// Entries is how many entries a work request may have whatever was promised, or 0.
	Entries int
	// Depth, if it is not 0, is how many work requests queues take whatever was
	// promised, fewer than that.
	Depth int
	// Stays has what is posted in ERR stay, until the state changes to ERR once more.
	Stays bool
	// IWARP has the device speak iWARP: no UD, no atomics, no immediate data, and a
	// message that finds no receive ends the connection.
	IWARP bool
}

// As has the fabric's devices behave as those of a provider do.
func As(p Provider) Option { return func(c *config) { c.provider = p } }

func reset(errno syscall.Errno, result ResultKind, bad BadWRKind) *Refusal {
	return &Refusal{errno, result, bad}
}

// The providers of rdma-core, as their sources have them.
var (
	// Rxe is Soft-RoCE's of rdma-core 40 and later.
	Rxe = Provider{
		Name: "rxe", Full: Refusal{Errno: syscall.ENOMEM}, TooLong: Refusal{Errno: syscall.EINVAL},
		Reset: reset(syscall.EINVAL, PositiveErrno, BadWRUnset), Attached: Refusal{syscall.EINVAL, PositiveErrno, BadWRUnset},
		SendEarly: Refusal{syscall.EINVAL, PositiveErrno, BadWRUnset}, Rounded: true, Stays: true,
	}
	// Rxe39 is Soft-RoCE's before that.
	Rxe39 = Provider{
		Name: "rxe of rdma-core 39", Full: Refusal{syscall.ENOMEM, NegativeErrno, BadWRRefused},
		TooLong: Refusal{syscall.EINVAL, NegativeErrno, BadWRRefused}, Attached: Refusal{syscall.EINVAL, NegativeErrno, BadWRUnset},
		SendEarly: Refusal{syscall.EINVAL, NegativeErrno, BadWRUnset}, Rounded: true, Stays: true,
	}
	// Siw is software iWARP's.
	Siw = Provider{
		Name: "siw", Full: Refusal{syscall.ENOMEM, NegativeErrno, BadWRRefused}, TooLong: Refusal{syscall.EINVAL, NegativeErrno, BadWRRefused},
		NoEntries: reset(syscall.EINVAL, NegativeErrno, BadWRRefused), Attached: Refusal{syscall.EINVAL, NegativeErrno, BadWRRefused},
		Rounded: true, Entries: 6, Stays: true, IWARP: true,
	}
	// MLX5 is that of NVIDIA's ConnectX-4 and later, which leaves bad_wr alone.
	MLX5 = Provider{
		Name: "mlx5", Full: Refusal{Errno: syscall.ENOMEM}, TooLong: Refusal{Errno: syscall.EINVAL}, Attached: Refusal{Errno: syscall.ENOMEM},
	}
	// MLX4 is that of ConnectX-3; bnxt_re's is alike.
	MLX4 = Provider{
		Name: "mlx4", Full: Refusal{Errno: syscall.ENOMEM}, TooLong: Refusal{Errno: syscall.ENOMEM}, Attached: Refusal{Errno: syscall.ENOMEM},
	}
	// QEDR is that of Marvell's FastLinQ; cxgb4's is alike.
	QEDR = Provider{
		Name: "qedr", Full: Refusal{syscall.ENOMEM, NegativeErrno, BadWRRefused}, TooLong: Refusal{syscall.EINVAL, NegativeErrno, BadWRRefused},
		Reset: reset(syscall.EINVAL, NegativeErrno, BadWRRefused), Attached: Refusal{syscall.EINVAL, NegativeErrno, BadWRRefused},
	}
	// MTHCA is that of InfiniHost, whose reasons are in errno.
	MTHCA = Provider{
		Name: "mthca", Full: Refusal{syscall.ENOMEM, MinusOne, BadWRRefused}, TooLong: Refusal{syscall.EINVAL, MinusOne, BadWRRefused},
		Attached: Refusal{syscall.EINVAL, MinusOne, BadWRRefused},
	}
	// IRDMA is that of Intel's E810; some of its ways leave bad_wr alone.
	IRDMA = Provider{
		Name: "irdma", Full: Refusal{syscall.ENOMEM, PositiveErrno, BadWRUnset}, TooLong: Refusal{syscall.EINVAL, PositiveErrno, BadWRUnset},
		Attached: Refusal{syscall.EINVAL, PositiveErrno, BadWRUnset},
	}
)

// Providers are those of this package, for tests that are to pass on each. The first one
// keeps to the man pages, and has no name. Siw is among them, which speaks iWARP: rdma's
// QP.Connect does not connect there, so tests that use it leave out what has IWARP.
func Providers() []Provider { return []Provider{{}, Rxe, Rxe39, Siw, MLX5, MLX4, QEDR, MTHCA, IRDMA} }
