package plangen_test

import (
	"go/types"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/plan/plangen"
)

func TestAFieldThatAPlanCannotExpressFailsTheGeneration(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*codegen.Field){
		"Thing.size: a plan cannot express a method that tells whether there is a value": func(f *codegen.Field) { f.VOkFunc = true },
		"Thing.size: a plan cannot express a batch resolver":                             func(f *codegen.Field) { f.Batch = true },
		"Thing.size: a plan cannot express a map":                                        func(f *codegen.Field) { f.GoFieldType = codegen.GoFieldMap },
		"Thing.size: a plan cannot express a value that writes itself with a context":    func(f *codegen.Field) { f.TypeReference.IsContext, f.TypeReference.IsMarshaler = true, true },
	} {
		thing := &codegen.Object{Definition: &ast.Definition{Kind: ast.Object, Name: "Thing"}}
		f := &codegen.Field{
			FieldDefinition: &ast.FieldDefinition{Name: "size"}, Object: thing,
			TypeReference: &config.TypeReference{Definition: &ast.Definition{Kind: ast.Scalar, Name: "Int"}, GQL: ast.NamedType("Int", nil), GO: types.Typ[types.Int]},
		}
		change(f)
		thing.Fields = []*codegen.Field{f}
		err := plangen.Plugin{}.GenerateCode(&codegen.Data{Config: config.DefaultConfig(), Objects: codegen.Objects{thing}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
