package gosrc

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// support writes what the declarations rest on, as far as they use it.
func (w *writer) support() {
	if w.path == "" && len(w.decls) > 0 {
		for _, bits := range []int{16, 32, 64} {
			w.bigEndian(bits)
		}
		w.ptr()
		w.funcPtr()
	}
	if w.needs["noCopy"] {
		w.noCopy()
	}
	if w.needs["flags"] {
		w.flagNames()
	}
	if w.needs["bits"] {
		w.bitFunctions()
	}
	if w.needs["bitOf"] {
		w.add("bitOf",
			jen.Func().Id("bitOf").Params(jen.Id("b").Bool()).Uint64().Block(
				jen.If(jen.Id("b")).Block(jen.Return(jen.Lit(1))), jen.Return(jen.Lit(0))))
	}
}

// bigEndian writes the type of integers in network byte order.
func (w *writer) bigEndian(bits int) {
	name, host := fmt.Sprintf("BE%d", bits), fmt.Sprintf("uint%d", bits)
	order := func(method string) *jen.Statement {
		return jen.Qual("encoding/binary", "BigEndian").Dot(method + fmt.Sprintf("Uint%d", bits))
	}
	size := jen.Lit(bits / 8)
	bytesOf := func() *jen.Statement {
		return jen.Parens(jen.Op("*").Index(size.Clone()).Byte()).Parens(jen.Qual("unsafe", "Pointer").Call(jen.Op("&").Id("v"))).Index(jen.Empty(), jen.Empty())
	}
	why := jen.Comment("Safe: only v is seen as bytes, all of it.")
	w.add(name,
		jen.Comment(fmt.Sprintf("%s is a number of %d bits in network byte order, as C's __be%d is: its bytes in memory are the most significant first, on every machine. It is printed as the number that it stands for, but calculated and compared with as its bytes: use Host for that.", name, bits, bits)),
		jen.Type().Id(name).Id(host),
		jen.Comment(fmt.Sprintf("To%s puts a number of this machine into network byte order.", name)),
		jen.Func().Id("To"+name).Params(jen.Id("n").Id(host)).Params(jen.Id("v").Id(name)).Block(
			why, order("Put").Call(bytesOf(), jen.Id("n")), jen.Return(jen.Id("v"))),
		jen.Comment("Host is the number as this machine calculates with it."),
		jen.Func().Params(jen.Id("v").Id(name)).Id("Host").Params().Id(host).Block(
			why, jen.Return(order("").Call(bytesOf()))),
		jen.Comment("String prints the number, not its bytes."),
		jen.Func().Params(jen.Id("v").Id(name)).Id("String").Params().String().Block(
			jen.Return(jen.Qual("strconv", "FormatUint").Call(jen.Uint64().Parens(jen.Id("v").Dot("Host").Call()), jen.Lit(10)))),
		jen.Comment("Format prints the number, not its bytes, as fmt prints Host's, with any verb and flag. With %s it is as with %d."),
		jen.Func().Params(jen.Id("v").Id(name)).Id("Format").Params(jen.Id("f").Qual("fmt", "State"), jen.Id("verb").Rune()).Block(
			jen.If(jen.Id("verb").Op("==").LitRune('s')).Block(jen.Id("verb").Op("=").LitRune('d')),
			jen.Qual("fmt", "Fprintf").Call(jen.Id("f"), jen.Qual("fmt", "FormatString").Call(jen.Id("f"), jen.Id("verb")), jen.Id("v").Dot("Host").Call())))
}

// ptr writes the type of pointers where the collector does not see them.
func (w *writer) ptr() {
	t, pointer := jen.Id("T"), jen.Qual("unsafe", "Pointer")
	number := jen.Id("Ptr").Types(t)
	w.add("Ptr",
		jen.Comment("Ptr is a pointer to a T as a number, 0 for nil: what C's pointers are in unions and in other memory that Go's collector does not look into. "+
			"It keeps nothing alive. What it points to is memory of C's, or is kept by a pointer elsewhere for as long as C may use this one."),
		jen.Type().Id("Ptr").Types(t.Clone().Any()).Uintptr(),
		jen.Comment("ToPtr is p as a number, which does not keep alive what p points to."),
		jen.Func().Id("ToPtr").Types(t.Clone().Any()).Params(jen.Id("p").Op("*").Id("T")).Add(number).Block(
			jen.If(jen.Id("ptrEscapes")).Block(jen.Id("ptrSink").Op("=").Add(pointer.Clone()).Call(jen.Id("p"))),
			jen.Comment("Safe: C follows the number, and Go only after the caller's promise: see Get."),
			jen.Return(number.Clone().Call(jen.Uintptr().Call(pointer.Clone().Call(jen.Id("p")))))),
		jen.Comment("ptrEscapes is never true, but the compiler does not know: it puts nothing that ToPtr gets the address of on a stack, where it would move."),
		jen.Var().Defs(
			jen.Id("ptrEscapes").Bool(),
			jen.Id("ptrSink").Add(pointer.Clone())),
		jen.Comment("Set stores p. It does not keep alive what p points to."),
		jen.Func().Params(jen.Id("s").Op("*").Add(number.Clone())).Id("Set").Params(jen.Id("p").Op("*").Id("T")).Block(
			jen.Op("*").Id("s").Op("=").Id("ToPtr").Call(jen.Id("p"))),
		jen.Comment("Get is the pointer. It is for the member of a union that was stored last, and while what it points to is there: from any other number comes a pointer to nowhere, on which the collector may end the program."),
		jen.Comment("//go:noinline"), // as in viewAt
		jen.Func().Params(jen.Id("s").Add(number.Clone())).Id("Get").Params().Op("*").Id("T").Block(
			jen.Comment("Safe as far as the caller is right: the number is the pointer that it was, or that C had."),
			jen.Return(jen.Op("*").Parens(jen.Op("**").Id("T")).Parens(pointer.Clone().Call(jen.Op("&").Id("s"))))),
		jen.Comment("String prints the address."),
		jen.Func().Params(jen.Id("s").Add(number.Clone())).Id("String").Params().String().Block(
			jen.Return(jen.Lit("0x").Op("+").Qual("strconv", "FormatUint").Call(jen.Uint64().Call(jen.Id("s")), jen.Lit(16)))))
}

// funcPtr writes the type of members that point to functions.
func (w *writer) funcPtr() {
	w.add("FuncPtr",
		jen.Comment("FuncPtr is the address of a C function as a number, or 0: what C's function pointers are. The comment of a member has its prototype. "+
			"An address that cgo, purego or a loaded library gives converts to it."),
		jen.Type().Id("FuncPtr").Uintptr())
}

// noCopy writes the mark of structs that must not be copied.
func (w *writer) noCopy() {
	method := func(name string) *jen.Statement {
		return jen.Func().Params(jen.Op("*").Id("noCopy")).Id(name).Params().Block()
	}
	w.add("noCopy",
		jen.Comment("noCopy is in C's objects, which are only where C made them: a copy is none. It takes no room, and go vet reports copies of what has these methods."),
		jen.Type().Id("noCopy").Struct(),
		jen.Line(), method("Lock"),
		jen.Line(), method("Unlock"))
}

func (w *writer) flagNames() {
	w.add("flagName",
		jen.Comment("flagName is a set of bits that has a name."),
		jen.Type().Id("flagName").Struct(jen.Id("bits").Uint64(), jen.Id("name").String()),
		jen.Comment("flagNames joins the names of the bits of v. Bits without a name are kept as a number."),
		jen.Func().Id("flagNames").Params(jen.Id("v").Uint64(), jen.Id("zero").String(), jen.Id("names").Index().Id("flagName")).String().Block(
			jen.If(jen.Id("v").Op("==").Lit(0)).Block(jen.Return(jen.Id("zero"))),
			jen.Var().Id("parts").Index().String(),
			jen.For(jen.List(jen.Id("_"), jen.Id("n")).Op(":=").Range().Id("names")).Block(
				jen.If(jen.Id("v").Op("&").Id("n").Dot("bits").Op("==").Id("n").Dot("bits")).Block(
					jen.Id("parts").Op("=").Append(jen.Id("parts"), jen.Id("n").Dot("name")),
					jen.Id("v").Op("&^=").Id("n").Dot("bits"))),
			jen.If(jen.Id("v").Op("!=").Lit(0)).Block(
				jen.Id("parts").Op("=").Append(jen.Id("parts"), jen.Lit("0x").Op("+").Qual("strconv", "FormatUint").Call(jen.Id("v"), jen.Lit(16)))),
			jen.Return(jen.Qual("strings", "Join").Call(jen.Id("parts"), jen.Lit("|")))))
}

// bitFunctions writes the two functions that all bit-field accessors share. A
// bit-field lies in at most eight bytes; seen as one number, it starts shift
// bits from the end where the machine's C compiler starts.
func (w *writer) bitFunctions() {
	what := "low end of its first byte"
	if w.facts.BigEndian {
		what = "high end of its first byte"
	}
	w.add("bitsFromHigh",
		jen.Comment("bitsFromHigh tells that C fills a byte with bit-fields from the "+what+"."),
		jen.Const().Id("bitsFromHigh").Op("=").Lit(w.facts.BigEndian))
	bytes := jen.Id("b").Index().Byte()
	place := jen.List(jen.Id("shift"), jen.Id("width")).Int()
	low := func(shift jen.Code) *jen.Statement {
		return jen.If(jen.Id("bitsFromHigh")).Block(jen.Add(shift).Op("=").Lit(8).Op("*").Len(jen.Id("b")).Op("-").Add(shift).Op("-").Id("width"))
	}
	at := func() *jen.Statement {
		return jen.Id("at").Op(":=").Lit(8).Op("*").Id("i")
	}
	turn := func() *jen.Statement {
		return jen.If(jen.Id("bitsFromHigh")).Block(jen.Id("at").Op("=").Lit(8).Op("*").Parens(jen.Len(jen.Id("b")).Op("-").Lit(1).Op("-").Id("i")))
	}
	w.add("getBits",
		jen.Comment("getBits reads width bits of b, which start shift bits from where C starts to fill it."),
		jen.Func().Id("getBits").Params(bytes, place).Params(jen.Id("v").Uint64()).Block(
			low(jen.Id("shift")),
			jen.For(jen.List(jen.Id("i"), jen.Id("x")).Op(":=").Range().Id("b")).Block(
				at(), turn(),
				jen.Id("v").Op("|=").Uint64().Parens(jen.Id("x")).Op("<<").Id("at")),
			jen.Return(jen.Id("v").Op(">>").Id("shift").Op("&").Parens(jen.Lit(1).Op("<<").Id("width").Op("-").Lit(1)))),
		jen.Comment("setBits writes the low width bits of v where getBits reads them, and no other bit."),
		jen.Func().Id("setBits").Params(bytes.Clone(), place.Clone(), jen.Id("v").Uint64()).Block(
			low(jen.Id("shift")),
			jen.Id("mask").Op(":=").Uint64().Parens(jen.Lit(1).Op("<<").Id("width").Op("-").Lit(1)).Op("<<").Id("shift"),
			jen.Id("v").Op("<<=").Id("shift"),
			jen.For(jen.Id("i").Op(":=").Range().Id("b")).Block(
				at(), turn(),
				jen.Id("m").Op(":=").Byte().Parens(jen.Id("mask").Op(">>").Id("at")),
				jen.Id("b").Index(jen.Id("i")).Op("=").Id("b").Index(jen.Id("i")).Op("&^").Id("m").Op("|").Byte().Parens(jen.Id("v").Op(">>").Id("at")).Op("&").Id("m"))))
}
