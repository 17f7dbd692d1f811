//go:build !freebsd

package ibvtest

import (
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// defaultLimits is what devices can do that were not told otherwise.
func defaultLimits() ibv.DeviceAttr {
	attr := ibv.DeviceAttr{
		MaxMRSize: 1 << 40, PageSizeCap: 0xffff_f000, VendorPartID: 1, HWVer: 1,
		MaxQP: 1 << 16, MaxQPWR: 1 << 14, MaxSGE: 32, MaxSGERd: 32,
		MaxCQ: 1 << 16, MaxCQE: 1 << 20, MaxMR: 1 << 16, MaxPD: 1 << 15, MaxMW: 1 << 16,
		MaxQPRdAtom: 128, MaxResRdAtom: 1 << 18, MaxQPInitRdAtom: 128, AtomicCap: ibv.AtomicHCA,
		MaxMcastGrp: 1 << 13, MaxMcastQPAttach: 56, MaxTotalMcastQPAttach: 56 << 13,
		MaxAH: 1 << 15, MaxSRQ: 1 << 15, MaxSRQWR: 1 << 14, MaxSRQSGE: 27,
		MaxPKeys: 64, LocalCAAckDelay: 15, PhysPortCnt: 1,
		DeviceCapFlags: ibv.DeviceBadPKeyCntr | ibv.DeviceBadQKeyCntr | ibv.DeviceCurrQPStateMod | ibv.DevicePortActiveEvent |
			ibv.DeviceSysImageGUID | ibv.DeviceRCRNRNakGen | ibv.DeviceSRQResize | ibv.DeviceNNotifyCQ | ibv.DeviceMemWindow |
			ibv.DeviceMemMgtExtensions | ibv.DeviceMemWindowType2b | ibv.DeviceXRC,
	}
	copy(attr.FWVer[:], "1.0")
	return attr
}

// maxInline is the most data that a work request carries itself, in bytes.
const maxInline = 512

// Limits changes what the fabric's devices can do, such as how many queue pairs they
// have or how many ports: what ibv.Context.QueryDevice tells, and what is refused
// above. GUIDs are a device's own.
func Limits(change func(limits *ibv.DeviceAttr)) Option {
	if change == nil {
		return nil
	}
	return func(c *config) { change(&c.limits) }
}

func init() {
	symbols["ibv_query_device"] = queryDevice
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.QueryDeviceEx = opQueryDeviceEx
	})
}

var opQueryDeviceEx = operation("query_device_ex", queryDeviceEx)

func queryDevice(a ccall.Args) (uintptr, syscall.Errno) {
	*of[ibv.DeviceAttr](a[1]) = contextAt(a[0]).dev.attr
	return 0, 0
}

func queryDeviceEx(a ccall.Args) (uintptr, syscall.Errno) {
	d, input := contextAt(a[0]).dev, a[1]
	if input != 0 && *of[uint32](input) != 0 { // the mask, which has no bits yet
		return uintptr(syscall.EINVAL), 0
	}
	if a[3] < unsafe.Sizeof(d.attr) {
		return uintptr(syscall.EINVAL), 0
	}
	var attr ibv.DeviceAttrEx
	attr.MaxDMSize = maxDeviceMemory
	attr.OrigAttr, attr.DeviceCapFlagsEx, attr.PhysPortCntEx = d.attr, uint64(d.attr.DeviceCapFlags), uint32(d.attr.PhysPortCnt)
	attr.CQModCaps, attr.HCACoreClock, attr.CompletionTimestampMask = moderationCaps, clockKHz, math.MaxUint64
	fill(a[2], &attr, a[3])
	return 0, 0
}

// fill writes as much of an answer as the program has room for, and zeros to the rest.
func fill[T any](to uintptr, answer *T, room uintptr) {
	// Safe: the program says how much room is there, and the answer is without pointers.
	bytes := unsafe.Slice(of[byte](to), room)
	clear(bytes[copy(bytes, unsafe.Slice((*byte)(unsafe.Pointer(answer)), unsafe.Sizeof(*answer))):])
}
