package wordtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Source is what a Go file says in English.
type Source struct {
	// Comments are the sentences of its comments.
	Comments []string
	// Messages are the strings of more than one word. Where one is put together, "…" is for what is not written there.
	Messages []string
}

// Sources reads the Go files of a tree that are written by hand.
func Sources(tree fs.FS) (map[string]Source, error) {
	all := map[string]Source{}
	err := fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || file != "." && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(file) != ".go":
			return nil
		}

		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(parsed) {
			all[file] = sourceOf(parsed)
		}
		return err
	})
	return all, err
}

func sourceOf(file *ast.File) (s Source) {
	for _, group := range file.Comments {
		s.Comments = append(s.Comments, Sentences(group.Text())...)
	}
	for _, declaration := range file.Decls {
		if general, ok := declaration.(*ast.GenDecl); !ok || general.Tok != token.IMPORT {
			s.read(declaration)
		}
	}
	return s
}

// read adds the messages below a node.
func (s *Source) read(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		expression, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok, others := written(expression)
		if !ok {
			return true
		}

		if strings.Contains(strings.TrimSpace(text), " ") {
			s.Messages = append(s.Messages, text)
		}
		for _, other := range others {
			s.read(other)
		}
		return false
	})
}

// written returns a string as the program has it, whether the expression is one, and what else it is put together from.
func written(e ast.Expr) (text string, ok bool, others []ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING, nil
	case *ast.BinaryExpr:
		left, isLeft, others := written(e.X)
		right, isRight, more := written(e.Y)
		return left + right, e.Op == token.ADD && (isLeft || isRight), append(others, more...)
	default:
		return "…", false, []ast.Expr{e}
	}
}
