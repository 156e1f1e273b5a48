// Package plangen is a plugin of gqlgen's that writes the table by which package plan executes operations. It has one
// function for each field of the schema, made from the bindings that gqlgen's own code is made from: the function has
// the value from the same member, method or resolver, given the same decoded arguments, and writes it in the same form.
package plangen

import (
	_ "embed"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed table.gotpl
var tableText string

//go:embed around.gotpl
var aroundText string

// Plugin writes the table into a file of the package of gqlgen's generated code. It implements gqlgen's
// plugin.CodeGenerator.
type Plugin struct {
	// Filename is that of the table.
	Filename string
	// Prompt are the object types whose resolvers never wait, so that no field of theirs needs a goroutine.
	Prompt []string
	// Around, if it is set, is the file of a package for tests: resolvers that let a function be called around them.
	Around string
}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return "plan" }

// GenerateCode implements plugin.CodeGenerator. It fails if a field is bound in a way that a plan does not know.
func (p Plugin) GenerateCode(data *codegen.Data) error {
	t := table{data, p.Prompt}
	for _, o := range t.Planned() {
		for _, f := range o.Fields {
			if unknown := unknownBinding(f); unknown != "" && !f.IsReserved() {
				return fmt.Errorf("plangen: %s.%s: a plan cannot express %s", o.Name, f.Name, unknown)
			}
		}
	}
	if p.Around != "" {
		if err := t.render(aroundText, p.Around, "resolvertest"); err != nil {
			return err
		}
	}
	return t.render(tableText, p.Filename, data.Config.Exec.Package)
}

// unknownBinding returns what of a field's binding a plan does not know, empty if it knows all.
func unknownBinding(f *codegen.Field) string {
	for what, is := range map[string]bool{
		"a directive":      f.HasDirectives(),
		"a batch resolver": f.IsBatch(),
		"a map":            f.IsMap(),
		"a method that tells whether there is a value": f.HasHaser || f.VOkFunc,
		"a root type": f.TypeReference.IsRoot,
		"a value that writes itself with a context": f.TypeReference.IsContext && f.TypeReference.IsMarshaler,
		"an argument that is inlined":               codegen.GetInlineArgsMetadata(f.Object.Name, f.Name) != nil,
		"a context for each event":                  f.UsesSubscriptionContext(),
	} {
		if is {
			return what
		}
	}
	return ""
}

// table is what the templates ask of gqlgen's data.
type table struct {
	*codegen.Data
	prompt []string
}

// Concurrent reports whether a field may wait.
func (t table) Concurrent(f *codegen.Field) bool {
	return f.IsConcurrent() && !slices.Contains(t.prompt, f.Object.Name)
}

func (t table) render(text, filename, packageName string) error {
	return templates.Render(templates.Options{
		PackageName: packageName, Filename: filename, GeneratedHeader: true, Packages: t.Config.Packages,
		Template: text, Data: t, PruneOptions: t.Config.GetPruneOptions(),
	})
}

// Planned are the object types that operations can meet, the root types among them.
func (t table) Planned() (list []*codegen.Object) {
	for _, o := range t.Objects {
		if !o.IsReserved() && o.Kind == ast.Object {
			list = append(list, o)
		}
	}
	return list
}

// Resolved are the object types that have a resolver.
func (t table) Resolved() (list []*codegen.Object) {
	for _, o := range t.Planned() {
		if o.HasResolvers() {
			list = append(list, o)
		}
	}
	return list
}

// Written are the types that fields have, by the names of their functions.
func (t table) Written() (list []*config.TypeReference) {
	seen := map[string]bool{}
	for _, o := range t.Planned() {
		for _, f := range o.Fields {
			for r := f.TypeReference; !f.IsReserved() && r != nil && !seen[t.Write(r)]; r = inside(r) {
				seen[t.Write(r)] = true
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b *config.TypeReference) int { return strings.Compare(t.Write(a), t.Write(b)) })
	return list
}

// inside returns the type that values of a list or of a pointer to a pointer are written of, nil for other types.
func inside(r *config.TypeReference) *config.TypeReference {
	if r.IsSlice() || isUnwrapped(r) {
		return r.Elem()
	}
	return nil
}

// isUnwrapped reports whether a value is a pointer that gqlgen follows before it writes.
func isUnwrapped(r *config.TypeReference) bool {
	return r.IsPtrToSlice() || r.IsPtrToIntf() || r.IsPtrToPtr() && r.Unmarshaler == nil && !r.IsMarshaler
}

// Unwrapped is isUnwrapped.
func (table) Unwrapped(r *config.TypeReference) bool { return isUnwrapped(r) }

// Write is the name of the function that writes values of a type.
func (table) Write(r *config.TypeReference) string { return "write" + r.UniquenessKey() }

// Composite reports whether a selection is made of a type: of an object type, an interface or a union.
func (table) Composite(r *config.TypeReference) bool { return r.Definition.IsCompositeType() }

// IsInterface reports whether values of a type are nil without a type.
func (table) IsInterface(r *config.TypeReference) bool { return types.IsInterface(r.GO) }

// Observed reports whether the values of a field are reported when they are resolved: objects and lists.
func (t table) Observed(f *codegen.Field) bool {
	return t.Composite(f.TypeReference) || f.TypeReference.GQL.Elem != nil
}

// Length is an expression for the length of a value named v that is a text, empty for a type that is none.
func (t table) Length(f *codegen.Field) string {
	if t.Observed(f) {
		return ""
	}
	of := f.TypeReference.GO
	if p, ok := types.Unalias(of).(*types.Pointer); ok {
		if isText(p.Elem()) {
			return "plan.Length(v)"
		}
		return ""
	}
	if isText(of) {
		return "len(v)"
	}
	return ""
}

// isText reports whether a type is string, or bytes.
func isText(t types.Type) bool {
	if types.Identical(t, types.Typ[types.String]) {
		return true
	}
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Byte])
}

// standard are the functions of package plan that append what gqlgen's own marshalers write.
var standard = map[string]string{
	"MarshalString": "plan.AppendString", "MarshalID": "plan.AppendString", "MarshalBoolean": "plan.AppendBoolean",
	"MarshalInt": "plan.AppendInt", "MarshalInt32": "plan.AppendInt", "MarshalInt64": "plan.AppendInt",
}

// Append is the function that appends what a type's marshaler writes: one of package plan, or that of the name AppendX
// which stands beside MarshalX. It is empty if there is none.
func (table) Append(r *config.TypeReference) string {
	m := r.Marshaler
	if m == nil || r.IsMarshaler {
		return ""
	}
	if m.Pkg().Path() == "github.com/99designs/gqlgen/graphql" {
		return standard[m.Name()]
	}
	name := "Append" + strings.TrimPrefix(m.Name(), "Marshal")
	if m.Pkg().Scope().Lookup(name) == nil {
		return ""
	}
	return templates.CurrentImports.Lookup(m.Pkg().Path()) + "." + name
}
