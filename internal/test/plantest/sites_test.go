package plantest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slipway/internal/test/worldtest"
)

// senders are the functions that send a statement, by the names that runtime gives them: ent's, which have a context, and
// those of the packages below the services.
var senders = regexp.MustCompile(`^slipway/internal/data/(?:` +
	`store\.\(\*Store\)\.(?:Query|overAll|ownChanges|systemChanges|sweep|ownedIDs)` +
	`|record\.Query\[\.\.\.\]\.(?:ByID|ByIDs|Range|Count|Children|CountChildren)` +
	`|page\.(?:Read|ReadEach)\[\.\.\.\])$`)

// entSenders are ent's functions. What creates a row reads none, and what begins a transaction sends nothing.
var entSenders = regexp.MustCompile(`^slipway/ent\.\(\*(?:` +
	`\w+(?:Query|Select|GroupBy|Update|UpdateOne|Delete|DeleteOne|Client)|selector|Tx)\)\.\w+$`)

var notSending = regexp.MustCompile(`\.(?:BeginTx|Tx|Commit|Rollback|Use|Intercept|Close)$|\(\*Client\)`)

// unexplained are the places whose statements are not explained, and why.
var unexplained = map[string]string{
	"internal/service/account/organization.go AllOrganizations":         "the command line lists all of them",
	"internal/service/account/token.go AllTokens":                       "the command line lists all of them",
	"internal/service/inputvalidation/stored.go":                        "slipway check reads everything that is stored",
	"internal/service/deployment/cloudevents/follower.go update":        "an UPDATE of a deployment by its id",
	"internal/service/deployment/cloudevents/neighbour.go addHeldAfter": "for a start that its record has lost; a range of the index that addHeldAt follows",
}

// packages whose statements are none of the server's.
var otherPrograms = regexp.MustCompile(`^slipway/(?:ent|bench|internal/(?:demo|test))(?:/|$)`)

// Whoever adds a statement has it explained: every call in the program that sends one was made by the tour.
func everyStatementWasSent(t *testing.T, w *worldtest.World, sent map[site]bool) {
	t.Helper()
	sending := map[string]bool{}
	for _, c := range calls(t) {
		sending[c.file], sending[c.file+" "+c.function] = true, true
		if isSQLite(w) && c.function == "ForeignChanges" { // there is no other cluster
			continue
		}
		if !c.isExempt() && !c.isAmong(sent) {
			t.Errorf("%s:%d: no statement of %s, called in %s, is explained: have the tour carry it out", c.file, c.from, c.callee, c.function)
		}
	}
	for where := range unexplained {
		if !sending[where] {
			t.Errorf("%s sends no statement, and is among those that are not explained", where)
		}
	}
}

// call is a call of a sender in the program, which may be written in several lines.
type call struct {
	callee, file, function string
	from, to               int
}

func (c call) isExempt() bool {
	return unexplained[c.file] != "" || unexplained[c.file+" "+c.function] != ""
}

func (c call) isAmong(sent map[site]bool) bool {
	for line := c.from; line <= c.to; line++ {
		if sent[site{c.callee, c.file, line}] {
			return true
		}
	}
	return false
}

// listed is a package as go list has it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
}

// calls returns every call in the program that sends a statement.
func calls(t *testing.T) []call {
	t.Helper()
	packages := map[string]listed{}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-C", "../../..", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,Imports", "./cmd/slipway").Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	set := token.NewFileSet()
	exports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) })
	var found []call
	for _, path := range sendingPackages(packages) {
		found = append(found, callsOf(t, set, exports, packages[path])...)
	}
	if len(found) < 100 {
		t.Errorf("%d calls that send a statement were found: fewer than there are", len(found))
	}
	return found
}

// sendingPackages returns the packages of the program that know of something that sends statements.
func sendingPackages(packages map[string]listed) (paths []string) {
	knows := func(p listed) bool {
		return slices.ContainsFunc([]string{"slipway/ent", "slipway/internal/data/store", "slipway/internal/data/record", "slipway/internal/data/page"},
			func(path string) bool { return p.ImportPath == path || slices.Contains(p.Imports, path) })
	}
	for path, p := range packages {
		if strings.HasPrefix(path, "slipway/") && !otherPrograms.MatchString(path) && path != "slipway/graph/generated" && knows(p) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func callsOf(t *testing.T, set *token.FileSet, exports types.Importer, p listed) (found []call) {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: exports}).Check(p.ImportPath, set, files, info); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, d := range f.Decls {
			name := ""
			if function, ok := d.(*ast.FuncDecl); ok {
				name = function.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				c, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if callee := nameOf(info, c.Fun); isSender(callee) {
					from, to := set.Position(c.Pos()), set.Position(c.End())
					found = append(found, call{callee, relative(from.Filename), name, from.Line, to.Line})
				}
				return true
			})
		}
	}
	return found
}

func isSender(name string) bool {
	return senders.MatchString(name) || entSenders.MatchString(name) && !notSending.MatchString(name)
}

// nameOf returns the name that runtime gives the function that is called, "" for one that takes no context.
func nameOf(info *types.Info, e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
			continue
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.SelectorExpr:
			e = x.Sel
			continue
		}
		break
	}
	name, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	f, ok := info.Uses[name].(*types.Func)
	if !ok || f.Pkg() == nil {
		return ""
	}
	signature := f.Origin().Signature()
	if signature.Params().Len() == 0 || signature.Params().At(0).Type().String() != "context.Context" {
		return ""
	}
	generic := func(n int) string {
		if n > 0 {
			return "[...]"
		}
		return ""
	}
	receiver := signature.Recv()
	if receiver == nil {
		return f.Pkg().Path() + "." + f.Name() + generic(signature.TypeParams().Len())
	}
	pointer, isPointer := receiver.Type().(*types.Pointer)
	of := receiver.Type()
	if isPointer {
		of = pointer.Elem()
	}
	named, ok := of.(*types.Named)
	if !ok {
		return ""
	}
	text := named.Obj().Name() + generic(named.TypeParams().Len())
	if isPointer {
		text = "(*" + text + ")"
	}
	return fmt.Sprintf("%s.%s.%s", f.Pkg().Path(), text, f.Name())
}
