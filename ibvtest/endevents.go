//go:build !freebsd

package ibvtest

// endEvents is the end of all events, and of their files. Whoever waits until events are acknowledged, waits no more.
func (f *Fabric) endEvents() {
	for _, kept := range f.alive {
		switch object := kept.object.(type) {
		case *channel:
			object.end()
		case *context:
			object.async.queue.end()
			object.async.queue.file.close()
		}
	}
	f.acknowledged.Broadcast()
}
