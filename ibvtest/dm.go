//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// deviceMemory is memory of the device.
type deviceMemory struct {
	raw    ibv.DM // first: C's
	ctx    *context
	memory []byte
	uses   int // regions of it
}

const (
	// maxDeviceMemory is how much a device has, in bytes.
	maxDeviceMemory = 256 << 10
	// deviceMemoryStep is what begins and lengths are multiples of, for copying to and from it.
	deviceMemoryStep = 4
	// mostAligned is the most that it can be aligned to, as a logarithm.
	mostAligned = 12
)

func init() {
	equip = append(equip, func(v *ibv.VerbsContext) {
		v.AllocDM, v.FreeDM = opAllocDM, opFreeDM
		v.RegDMMR = opRegDMMR
	})
}

var (
	opAllocDM    = operation("alloc_dm", allocDM)
	opFreeDM     = operation("free_dm", freeDM)
	opRegDMMR    = operation("reg_dm_mr", regDMMR)
	opMemcpyToDM = operation("memcpy_to_dm", func(a ccall.Args) (uintptr, syscall.Errno) {
		return of[deviceMemory](a[0]).copies(uint64(a[1]), a[2], uint64(a[3]), true)
	})
	// Its first argument is not the object.
	opMemcpyFromDM = serve(ccall.Served{Name: "memcpy_from_dm", Call: func(a ccall.Args) (uintptr, syscall.Errno) {
		return deviceOf(a[1]).call(copiesFromDM, func(ccall.Args) (uintptr, syscall.Errno) {
			return of[deviceMemory](a[1]).copies(uint64(a[2]), a[0], uint64(a[3]), false)
		}, ccall.Args{a[1]})
	}})
)

// copiesFromDM is the man page's name of the function whose first argument is not the object.
const copiesFromDM = "ibv_memcpy_from_dm"

func allocDM(a ccall.Args) (uintptr, syscall.Errno) {
	c, attr := contextAt(a[0]), of[ibv.AllocDMAttr](a[1])
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case attr.CompMask != 0 || attr.Length == 0 || attr.LogAlignReq > mostAligned:
		return null, syscall.EINVAL
	case attr.Length > maxDeviceMemory-c.dev.memoryTaken:
		return null, syscall.ENOMEM
	}
	c.dev.memoryTaken += attr.Length
	dm := &deviceMemory{ctx: c}
	align := uint64(registrationPage)
	whole := make([]byte, attr.Length+align)
	begin := -uint64(uintptr(unsafe.Pointer(unsafe.SliceData(whole)))) % align
	dm.memory = whole[begin:][:attr.Length:attr.Length]
	dm.raw.Context, dm.raw.CompMask, dm.raw.Handle = &c.verbs.Context, ibv.DMMaskHandle, c.dev.handle()
	dm.raw.MemcpyToDM, dm.raw.MemcpyFromDM = opMemcpyToDM, opMemcpyFromDM
	f.keep(dm)
	return address(&dm.raw), 0
}

func freeDM(a ccall.Args) (uintptr, syscall.Errno) {
	dm := of[deviceMemory](a[0])
	f := dm.ctx.f
	f.mu.Lock()
	defer f.mu.Unlock()
	return uintptr(closeUnused(dm, dm.uses)), 0
}

func (dm *deviceMemory) opened() *context { return dm.ctx }

func (dm *deviceMemory) end() { dm.ctx.dev.memoryTaken -= uint64(len(dm.memory)) }

// copies copies between the device's memory and the program's.
func (dm *deviceMemory) copies(offset uint64, host uintptr, n uint64, toDevice bool) (uintptr, syscall.Errno) {
	f := dm.ctx.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if !within(offset, n, uint64(len(dm.memory))) || offset%deviceMemoryStep != 0 || n%deviceMemoryStep != 0 {
		return uintptr(syscall.EFAULT), 0
	}
	// Safe: the program says that n bytes are there.
	program := unsafe.Slice(of[byte](host), n)
	if device := dm.memory[offset:][:n]; toDevice {
		copy(device, program)
	} else {
		copy(program, device)
	}
	return 0, 0
}

// regDMMR registers device memory, whose addresses count from 0.
func regDMMR(a ccall.Args) (uintptr, syscall.Errno) {
	pd, dm, offset, n, access := of[domain](a[0]), of[deviceMemory](a[1]), uint64(a[2]), uint64(a[3]), ibv.AccessFlags(a[4])
	pd.ctx.f.mu.Lock()
	known := among[deviceMemory](pd.ctx, a[1]) != nil
	pd.ctx.f.mu.Unlock()
	switch reason := badAccess(access); {
	case !known:
		return null, syscall.EINVAL
	case reason != 0:
		return null, reason
	case access&ibv.AccessZeroBased == 0 || access&ibv.AccessMWBind != 0:
		return null, syscall.EINVAL
	case n == 0 || !within(offset, n, uint64(len(dm.memory))):
		return null, syscall.EINVAL
	}
	mr := &region{dm: dm, memory: unsafe.Pointer(&dm.memory[offset]), access: access}
	mr.raw.Length = n
	result, errno := mr.register(pd)
	if errno == 0 {
		dm.ctx.f.mu.Lock()
		dm.uses++
		dm.ctx.f.mu.Unlock()
	}
	return result, errno
}
