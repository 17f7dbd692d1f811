package gosrc

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// support writes what the declarations rest on, as far as they use it.
func (w *writer) support() {
	for _, bits := range []int{16, 32, 64} {
		w.bigEndian(bits)
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
		jen.Comment(fmt.Sprintf("%s is a number of %d bits in network byte order, as C's __be%d is: its bytes in memory are the most significant first, on every machine.", name, bits, bits)),
		jen.Type().Id(name).Id(host),
		jen.Comment(fmt.Sprintf("To%s puts a number of this machine into network byte order.", name)),
		jen.Func().Id("To"+name).Params(jen.Id("n").Id(host)).Params(jen.Id("v").Id(name)).Block(
			why, order("Put").Call(bytesOf(), jen.Id("n")), jen.Return(jen.Id("v"))),
		jen.Comment("Host is the number as this machine calculates with it."),
		jen.Func().Params(jen.Id("v").Id(name)).Id("Host").Params().Id(host).Block(
			why, jen.Return(order("").Call(bytesOf()))),
		jen.Comment("String prints the number, not its bytes."),
		jen.Func().Params(jen.Id("v").Id(name)).Id("String").Params().String().Block(
			jen.Return(jen.Qual("strconv", "FormatUint").Call(jen.Uint64().Parens(jen.Id("v").Dot("Host").Call()), jen.Lit(10)))))
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

// bitFunctions writes the two functions that all bit-field accessors share.
func (w *writer) bitFunctions() {
	params := func(more ...jen.Code) *jen.Statement {
		list := []jen.Code{jen.Id("b").Index().Byte(), jen.List(jen.Id("shift"), jen.Id("width")).Int(), jen.Id("bigEndian").Bool()}
		return jen.Params(append(list, more...)...)
	}
	place := func() jen.Code {
		return jen.List(jen.Id("i"), jen.Id("bit")).Op(":=").Id("n").Op("/").Lit(8).Op(",").Byte().Parens(jen.Lit(1)).Op("<<").Parens(jen.Id("n").Op("%").Lit(8))
	}
	swap := jen.If(jen.Id("bigEndian")).Block(jen.Id("bit").Op("=").Byte().Parens(jen.Lit(0x80)).Op(">>").Parens(jen.Id("n").Op("%").Lit(8)))
	position := jen.Id("at").Op(":=").Id("k")
	mirror := jen.If(jen.Id("bigEndian")).Block(jen.Id("at").Op("=").Id("width").Op("-").Lit(1).Op("-").Id("k"))
	n := jen.Id("n").Op(":=").Id("shift").Op("+").Id("k")
	w.add("getBits",
		jen.Comment("getBits reads width bits that start at bit shift of b, counted as the machine's C compiler allocates them: from the low bit of a byte on, or from the high one on a big-endian machine."),
		jen.Func().Id("getBits").Add(params()).Params(jen.Id("v").Uint64()).Block(
			jen.For(jen.Id("k").Op(":=").Range().Id("width")).Block(
				n.Clone(), place(), swap.Clone(), position.Clone(), mirror.Clone(),
				jen.If(jen.Id("b").Index(jen.Id("i")).Op("&").Id("bit").Op("!=").Lit(0)).Block(jen.Id("v").Op("|=").Lit(1).Op("<<").Id("at"))),
			jen.Return(jen.Id("v"))),
		jen.Comment("setBits writes the low width bits of v where getBits reads them, and no other bit."),
		jen.Func().Id("setBits").Add(params(jen.Id("v").Uint64())).Block(
			jen.For(jen.Id("k").Op(":=").Range().Id("width")).Block(
				n, place(), swap, position, mirror,
				jen.Id("b").Index(jen.Id("i")).Op("&^=").Id("bit"),
				jen.If(jen.Id("v").Op(">>").Id("at").Op("&").Lit(1).Op("!=").Lit(0)).Block(jen.Id("b").Index(jen.Id("i")).Op("|=").Id("bit")))))
}
