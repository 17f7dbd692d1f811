package rdma

import (
	"context"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// handles are one of each kind that is nil, and one that is zero.
var handles = []Object{
	(*Device)(nil), (*PD)(nil), (*CQ)(nil), (*SRQ)(nil), (*QP)(nil), (*Region)(nil), (*AH)(nil), (*Channel)(nil),
	(*RecvRing)(nil), (*SendRing)(nil), (*Owned[*cCloser])(nil),
	new(Device), new(PD), new(CQ), new(SRQ), new(QP), new(Region), new(AH), new(Channel),
	new(RecvRing), new(SendRing), new(Owned[*cCloser]),
	(*Window)(nil), new(Window),
}

// hot are the methods that ask nobody, so that a nil handle is as any nil pointer.
var hot = []string{"Poll", "PollExtended", "PostRecv", "PostRecvRange", "PostSend", "PostSendRange", "PostBatch", "PostBatchRange"}

// Every method of a handle that can fail says that the handle is nil or zero. Those of
// rings are all hot.
func TestNoHandles(t *testing.T) {
	for _, o := range handles {
		v := reflect.ValueOf(o)
		require.Contains(t, o.String(), "nil", "%T", o)
		called := 0
		for i := range v.NumMethod() {
			name, method := v.Type().Method(i).Name, v.Method(i)
			_, isRing := o.(Ring)
			outs := method.Type().NumOut()
			if slices.Contains(hot, name) || isRing && name != "Close" && name != "CloseAll" ||
				outs == 0 || method.Type().Out(outs-1) != reflect.TypeFor[error]() {
				continue
			}
			called++
			results := method.Call(zeros(method.Type()))
			err, _ := results[outs-1].Interface().(error)
			require.ErrorIs(t, err, syscall.EINVAL, "%T.%s", o, name)
		}
		require.GreaterOrEqual(t, called, 2, "%T has Close and CloseAll", o)
	}
	_, err := AdoptDevice(nil, DeviceOptions{})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// zeros are zero arguments for a function, but a context that is none.
func zeros(function reflect.Type) (args []reflect.Value) {
	for i := range function.NumIn() {
		switch in := function.In(i); {
		case function.IsVariadic() && i == function.NumIn()-1:
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(context.Background()))
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	return args
}

// Rings are made from handles that are nil or zero as little as anything else is, and
// no ring is among others.
func TestNoRings(t *testing.T) {
	for _, qp := range []*QP{nil, new(QP)} {
		_, err := NewRecvRing(qp, RecvRingOptions{})
		require.ErrorIs(t, err, syscall.EINVAL)
		_, err = NewSendRing(qp, SendRingOptions{})
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	for _, srq := range []*SRQ{nil, new(SRQ)} {
		_, err := NewSRQRecvRing(srq, new(CQ), RecvRingOptions{})
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	var all Rings[int]
	for _, r := range []Ring{nil, (*RecvRing)(nil), new(SendRing)} {
		require.ErrorIs(t, all.Add(r, 1), syscall.EINVAL)
		require.ErrorIs(t, all.Remove(r), syscall.EINVAL)
	}
}
