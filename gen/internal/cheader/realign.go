package cheader

import (
	"fmt"
	"strings"

	"modernc.org/cc/v4"
)

// realigned finds the declaration that asks for an alignment of a type that has
// another one by its typedef. cc refuses that and does not say where it is.
func realigned(ast *cc.AST) error {
	aligned := map[string]bool{}
	for tu := ast.TranslationUnit; tu != nil; tu = tu.TranslationUnit {
		if tu.ExternalDeclaration == nil || tu.ExternalDeclaration.Declaration == nil {
			continue
		}
		n := tu.ExternalDeclaration.Declaration
		base, asks, isTypedef := "", false, false
		for ds := n.DeclarationSpecifiers; ds != nil; ds = ds.DeclarationSpecifiers {
			asks = asks || asksAlignment(ds.AttributeSpecifierList)
			if q := ds.TypeQualifier; q != nil {
				asks = asks || asksAlignment(q.AttributeSpecifierList)
			}
			if s := ds.StorageClassSpecifier; s != nil && s.Case == cc.StorageClassSpecifierTypedef {
				isTypedef = true
			}
			if ts := ds.TypeSpecifier; ts != nil && ts.Case == cc.TypeSpecifierTypeName {
				base = ts.Token.SrcStr()
			}
		}
		for l := n.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
			d := l.InitDeclarator
			asksHere := asks || asksAlignment(d.AttributeSpecifierList)
			if asksHere && aligned[base] {
				p := d.Declarator.Position()
				p.Filename = strings.TrimPrefix(p.Filename, root+"/")
				return fmt.Errorf("%v: %s %s: the typedef %s has an alignment already, and the C front end knows no second one; name the type that %s stands for",
					p, base, d.Declarator.Name(), base, base)
			}
			if isTypedef && (asksHere || aligned[base] && d.Declarator.Pointer == nil) {
				aligned[d.Declarator.Name()] = true
			}
		}
	}
	return nil
}
