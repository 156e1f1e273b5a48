package document

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// typenameField is what every object that is read can have.
const typenameField = "__typename"

// typenameInputs returns the input types inside those of the names. Objects of them may have the __typename of what was
// read, because clients write back what they have read. A one-of is nothing that was read: it has its one member.
func typenameInputs(schema *ast.Schema, names []string) map[string]bool {
	seen, withTypename := map[string]bool{}, map[string]bool{}
	for len(names) > 0 {
		def := schema.Types[names[0]]
		names = names[1:]
		if def == nil || def.Kind != ast.InputObject || seen[def.Name] {
			continue
		}
		seen[def.Name] = true
		withTypename[def.Name] = def.Directives.ForName("oneOf") == nil
		for _, field := range def.Fields {
			names = append(names, field.Type.Name())
		}
	}
	return withTypename
}

// typeWritten returns the name of the type that an input type writes.
func typeWritten(input *ast.Definition) string { return strings.TrimSuffix(input.Name, "Input") }
