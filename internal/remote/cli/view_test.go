package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"slipway/internal/remote/cli"
)

// A column whose path leads nowhere is just not shown.
func TestEveryColumnShowsAMemberOfItsRecord(t *testing.T) {
	t.Parallel()
	for name, v := range cli.Views {
		for _, path := range v.Unknown() {
			t.Errorf("%s has a column of %s, which its record has not", name, path)
		}
	}
}

func TestTheColumnsOfEveryViewAreTried(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for n := range ast.Preorder(file) {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				continue
			}
			if of, ok := literal.Type.(*ast.IndexExpr); ok {
				if name, ok := of.X.(*ast.Ident); ok && name.Name == "view" {
					found++
				}
			}
		}
	}
	if found != len(cli.Views) {
		t.Errorf("%d views are made, and %d are tried: add the new one to Views", found, len(cli.Views))
	}
}
