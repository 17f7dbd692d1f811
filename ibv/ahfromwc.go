package ibv

import "syscall"

// InitAHFromWC works out from the completion of a receive on a UD queue pair where
// an answer to its sender goes: the attributes of an address handle. port is the
// port that it came in by, from 1. grh is the header at the start of the receive's
// buffer, as [WC.UDHeader] gives it; where the completion says that there is none,
// which RoCE's never do, it may be nil. It may be called from any goroutine.
//
// C: ibv_init_ah_from_wc(3); a nil header is allowed where there is none, which C reads in any case
func (ctx *Context) InitAHFromWC(port uint32, wc *WC, grh *GRH) (AHAttr, error) {
	act := ctx.action("find out where an answer goes", fromWCHints)
	grh, err := grhOf(act, port, wc, grh)
	if err != nil {
		return AHAttr{}, err
	}
	attr := new(AHAttr)
	if err := cInitAHFromWC(ctx, uint8(port), wc, grh, attr); err != nil {
		return AHAttr{}, act.from(err)
	}
	return *attr, nil
}

// CreateAHFromWC makes an address handle for an answer to the sender of what wc is
// the completion of: see [Context.InitAHFromWC] for the arguments. The caller
// closes it, not before the sends that name it have completed. It may be called
// from any goroutine.
//
// C: ibv_create_ah_from_wc(3); a nil header is allowed where there is none, which C reads in any case
func (pd *PD) CreateAHFromWC(wc *WC, grh *GRH, port uint32) (*AH, error) {
	act := pd.Context.action("create address handle for an answer", fromWCHints)
	grh, err := grhOf(act, port, wc, grh)
	if err != nil {
		return nil, err
	}
	ah, err := cCreateAHFromWC(pd, wc, grh, uint8(port))
	return ah, act.from(err)
}

// grhOf is the header to pass to C, which looks at it in any case.
func grhOf(act action, port uint32, wc *WC, grh *GRH) (*GRH, error) {
	switch {
	case wc == nil:
		return nil, act.invalid("the completion is missing")
	case wc.Status != WCSuccess:
		return nil, act.invalid("the completion is not a success, so it does not tell the sender")
	case grh == nil && wc.WCFlags&WCGRH != 0:
		return nil, act.invalid("the completion says that there is a header: pass it, as WC.UDHeader gives it")
	}
	if err := act.checkPort(port); err != nil {
		return nil, err
	}
	if grh == nil {
		grh = new(GRH)
	}
	return grh, nil
}

var fromWCHints = map[syscall.Errno]string{
	syscall.EINVAL:          "the receiver's address in the header is none of the port's GIDs, or one of a multicast group",
	syscall.EPROTONOSUPPORT: "the header is neither an IPv4 nor an IPv6 header: is it the start of the receive's buffer?",
	noEntry:                 "the receiver's address in the header is none of the port's GIDs",
}
