package rdma

import "github.com/goverbs/goverbs/ibv"

// Device is an opened RDMA device. Any goroutine may use it.
type Device struct {
	_ noCopy

	raw *ibv.Context
	l   *life
	own *ownChannel

	events *events
}

// DeviceOptions are what a device is opened with besides its name. The zero value
// is what most programs want.
type DeviceOptions struct {
	// OnLeak is told of objects of the device that were lost without a Close. It runs
	// on a goroutine of the runtime's, and must not block. It must not hold handles of
	// the device either, for those would never be lost. [Alive] lists them, too.
	// A program that lets go of handles, and leaves closing to CloseAll, is told of each
	// of them that the collector finds first: it keeps its handles until then, or has no
	// OnLeak.
	OnLeak func(Leak)
}

// Open opens the device with a name, or with "" the first one with an active port,
// of whichever transport: [Devices] tells what each speaks. The caller closes it.
// Any goroutine may call it.
//
// The error is [ibv.ErrNoLibrary] where there is no libibverbs. Otherwise it says
// what is in the way: ENODEV where there is no such device, or no provider for it,
// ENOENT, EACCES or EPERM where its node is missing or may not be opened, and
// ENOSYS where the kernel has no RDMA support loaded.
//
// C: ibv_open_device(3)
func Open(name string, opts DeviceOptions) (*Device, error) {
	raw, err := ibv.Open(name)
	if err != nil {
		return nil, err
	}
	return newDevice(raw, opts, raw.Close)
}

// AdoptDevice makes a handle of a device that something else has opened, and that
// it closes, after the handle.
func AdoptDevice(raw *ibv.Context, opts DeviceOptions) (*Device, error) {
	return newDevice(raw, opts, func() error { return nil })
}

func newDevice(raw *ibv.Context, opts DeviceOptions, destroy func() error) (*Device, error) {
	l, err := begin("device")
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	if raw == nil {
		return nil, noRaw("adopt device")
	}
	l.onLeak, l.context = opts.OnLeak, raw
	own, events := &ownChannel{}, newEvents(asyncEvents{raw})
	d := &Device{raw: raw, l: l, own: own, events: events}
	live(l, d, raw.Device.String(), func() error {
		return events.close(func() error { return own.close(destroy) })
	}, nil)
	return d, nil
}

// Raw is C's object, valid until Close.
func (d *Device) Raw() *ibv.Context { return d.raw }

// Close closes the device: see [Object].
func (d *Device) Close() error { return d.lifetime().close() }

// CloseAll closes the device and everything made from it: see [Object].
func (d *Device) CloseAll() error { return d.lifetime().closeAll() }

// String is the kind and the name of the device.
func (d *Device) String() string { return d.lifetime().text() }

func (d *Device) lifetime() *life {
	if d == nil {
		return nil
	}
	return d.l
}
