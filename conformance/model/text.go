package model

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"

	"github.com/goverbs/goverbs/ibv"
)

// String is the sequence as Go that can be compiled where this package is imported.
func (s Sequence) String() string {
	var b strings.Builder
	b.WriteString("model.Sequence{\n")
	for _, c := range s {
		fmt.Fprintf(&b, "\t%s,\n", Text(c))
	}
	b.WriteString("}")
	return b.String()
}

// Text is a call as Go: fields that are zero are left out.
func Text(c Call) string {
	v := reflect.ValueOf(c)
	return "model." + v.Type().Name() + literal(v)
}

// names is what the package ibv calls the values that calls are made with.
var names = map[reflect.Type]map[uint32]string{
	reflect.TypeFor[ibv.QPState](): {
		uint32(ibv.QPSReset): "QPSReset", uint32(ibv.QPSInit): "QPSInit", uint32(ibv.QPSRTR): "QPSRTR", uint32(ibv.QPSRTS): "QPSRTS",
		uint32(ibv.QPSSQD): "QPSSQD", uint32(ibv.QPSSQE): "QPSSQE", uint32(ibv.QPSErr): "QPSErr",
	},
	reflect.TypeFor[ibv.QPType](): {uint32(ibv.QPTRC): "QPTRC", uint32(ibv.QPTUC): "QPTUC", uint32(ibv.QPTUD): "QPTUD"},
	reflect.TypeFor[ibv.WROpcode](): {
		uint32(ibv.WRSend): "WRSend", uint32(ibv.WRSendWithImm): "WRSendWithImm", uint32(ibv.WRRDMAWrite): "WRRDMAWrite",
		uint32(ibv.WRRDMAWriteWithImm): "WRRDMAWriteWithImm", uint32(ibv.WRRDMARead): "WRRDMARead",
		uint32(ibv.WRAtomicCmpAndSwp): "WRAtomicCmpAndSwp", uint32(ibv.WRAtomicFetchAndAdd): "WRAtomicFetchAndAdd",
		uint32(ibv.WRSendWithInv): "WRSendWithInv", uint32(ibv.WRBindMW): "WRBindMW", uint32(ibv.WRLocalInv): "WRLocalInv",
	},
	reflect.TypeFor[ibv.SendFlags](): {
		uint32(ibv.SendFence): "SendFence", uint32(ibv.SendSignaled): "SendSignaled", uint32(ibv.SendSolicited): "SendSolicited",
		uint32(ibv.SendInline): "SendInline",
	},
	reflect.TypeFor[ibv.AccessFlags](): {
		uint32(ibv.AccessLocalWrite): "AccessLocalWrite", uint32(ibv.AccessRemoteWrite): "AccessRemoteWrite",
		uint32(ibv.AccessRemoteRead): "AccessRemoteRead", uint32(ibv.AccessRemoteAtomic): "AccessRemoteAtomic",
		uint32(ibv.AccessMWBind): "AccessMWBind",
	},
}

// literal is a value as Go, without its type where that is the field's.
func literal(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if f := v.Field(i); name == "_" || f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
				continue
			}
			fields = append(fields, name+": "+typed(v.Field(i)))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		var elements []string
		for i := range v.Len() {
			elements = append(elements, literal(v.Index(i)))
		}
		return "{" + strings.Join(elements, ", ") + "}"
	case reflect.Uint32:
		if known, ok := names[v.Type()]; ok {
			return named(uint32(v.Uint()), known)
		}
	}
	return fmt.Sprint(v.Interface())
}

// typed is literal with the type that a composite needs.
func typed(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct, reflect.Slice:
		return v.Type().String() + literal(v)
	}
	return literal(v)
}

// named is a value, or flags, by their names.
func named(n uint32, known map[uint32]string) string {
	if name, ok := known[n]; ok {
		return "ibv." + name
	}
	var parts []string
	for rest := n; rest != 0; rest &= rest - 1 {
		name, ok := known[1<<bits.TrailingZeros32(rest)]
		if !ok {
			return fmt.Sprint(n)
		}
		parts = append(parts, "ibv."+name)
	}
	return strings.Join(parts, " | ")
}
