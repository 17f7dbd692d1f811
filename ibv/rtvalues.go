package ibv

import "unsafe"

// QueryRTValues reads values of the device that change all the time, those that
// mask names: the clock of completion timestamps. CompMask of the answer says which
// of them the provider has. It may be called from any goroutine.
//
// C: ibv_query_rt_values_ex(3)
func (ctx *Context) QueryRTValues(mask ValuesMask) (ValuesEx, error) {
	act := ctx.action("query the clock", nil)
	if err := mask.check(act); err != nil {
		return ValuesEx{}, err
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.QueryRtValues))
	values := &ValuesEx{CompMask: mask}
	err := act.from(callVerbsContextQueryRtValues(fn, ctx, values))
	return *values, err
}
