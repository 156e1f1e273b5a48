package graph_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// inputMembers returns the members of the schema's inputs, by the names of their structs.
func inputMembers(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	file, err := parser.ParseFile(token.NewFileSet(), "model/models.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					all[spec.Name.Name] = append(all[spec.Name.Name], name.Name)
				}
			}
		}
		return false
	})
	return all
}

// modelOf returns the name of a type of package model, or of what a pointer to one points to; "" for others.
func modelOf(e ast.Expr) string {
	if pointer, ok := e.(*ast.StarExpr); ok {
		e = pointer.X
	}
	if s, ok := e.(*ast.SelectorExpr); ok {
		if from, ok := s.X.(*ast.Ident); ok && from.Name == "model" {
			return s.Sel.Name
		}
	}
	return ""
}

// membersRead returns what the functions of a package read of the inputs that they take, such as CreateProjectInput.Name,
// and the names of those inputs.
func membersRead(t *testing.T) (read, taken map[string]bool) {
	t.Helper()
	read, taken = map[string]bool{}, map[string]bool{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			inputs := map[string]string{}
			for _, p := range function.Type.Params.List {
				for _, name := range p.Names {
					if m := modelOf(p.Type); m != "" {
						inputs[name.Name], taken[m] = m, true
					}
				}
			}
			ast.Inspect(function.Body, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if of, ok := s.X.(*ast.Ident); ok && inputs[of.Name] != "" {
						read[inputs[of.Name]+"."+s.Sel.Name] = true
					}
				}
				return true
			})
		}
	}
	return read, taken
}

// A member that no function reads is taken, and does nothing. TestEveryMemberOfAnInputIsHandedOn looks at what the functions
// of inputs.go make of theirs; many resolvers read their input themselves.
func TestEveryMemberOfAnInputIsRead(t *testing.T) {
	t.Parallel()
	read, taken := membersRead(t)
	members := inputMembers(t)
	for input := range taken {
		for _, m := range members[input] {
			if !read[input+"."+m] {
				t.Errorf("nothing reads the member %s of %s", m, input)
			}
		}
	}
	if len(taken) < 25 {
		t.Errorf("only %d inputs", len(taken))
	}
}
