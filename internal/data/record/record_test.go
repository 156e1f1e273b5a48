package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A record may lack most of its columns, and an entity may not: what turned the one into the other would have a rule go
// by columns that were never read.
func TestNoRecordBecomesAnEntity(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "ent" || path == filepath.Join(root, "internal", "data", "record")):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isEntityPointer(call.Fun) {
				t.Errorf("%s converts to an entity", fset.Position(call.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files were read: %v", files, err)
	}
}

// isEntityPointer reports whether an expression is (*ent.X), as in a conversion.
func isEntityPointer(e ast.Expr) bool {
	inner, ok := e.(*ast.ParenExpr)
	if !ok {
		return false
	}
	pointer, ok := inner.X.(*ast.StarExpr)
	if !ok {
		return false
	}
	of, ok := pointer.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	name, ok := of.X.(*ast.Ident)
	return ok && name.Name == "ent"
}
