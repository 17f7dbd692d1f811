//go:build !freebsd

package ibvtest

import (
	"math"
	"syscall"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// moderation holds the event of a completion queue back, until there are some completions, or for some time.
type moderation struct {
	by    ibv.ModerateCQ
	held  uint16 // completions since the first that the event is due for
	timer *timer
}

// moderationCaps is how far devices hold events back.
var moderationCaps = ibv.CQModerationCaps{MaxCQCount: math.MaxUint16, MaxCQPeriod: math.MaxUint16}

var opModifyCQ = operation("modify_cq", modifyCQ)

func modifyCQ(a ccall.Args) (uintptr, syscall.Errno) {
	cq, attr := of[completionQueue](a[0]), of[ibv.ModifyCQAttr](a[1])
	cq.ctx.f.mu.Lock()
	defer cq.ctx.f.mu.Unlock()
	if attr.AttrMask != ibv.CQAttrModerate {
		return uintptr(syscall.EINVAL), 0
	}
	cq.moderation.by = attr.Moderate
	if cq.moderation.held > 0 {
		cq.notify() // by the new rule, the next one
	}
	return 0, 0
}

// due is a completion for which an event was asked. It comes now, or is held back: a count or a period of 0 is none. The
// lock is held.
func (cq *completionQueue) due() {
	m := &cq.moderation
	m.held++
	switch by := m.by; {
	case by.CQCount > 0 && m.held >= by.CQCount, by.CQCount <= 1 && by.CQPeriod == 0:
		cq.notify()
	case by.CQPeriod > 0 && m.timer == nil:
		m.timer = cq.ctx.f.after(time.Duration(by.CQPeriod)*time.Microsecond, cq.notify)
	}
}

// notify sends the event that was asked for. The lock is held.
func (cq *completionQueue) notify() {
	cq.calm()
	cq.armed = notArmed
	if cq.channel != nil {
		cq.channel.events.add(cq)
	}
}

// calm has no event be held back.
func (cq *completionQueue) calm() {
	cq.ctx.f.stop(cq.moderation.timer)
	cq.moderation.timer, cq.moderation.held = nil, 0
}
