package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/fault"
)

var form = regexp.MustCompile(`^slipway:[A-Z][A-Za-z]+:[A-Z][A-Z_]+$`)

func TestEveryCodeIsRegisteredOnceWithStatusMeaningAndRemedy(t *testing.T) {
	t.Parallel()
	var registered []fault.Code
	for _, e := range fault.Codes() {
		registered = append(registered, e.Code)
		if !form.MatchString(string(e.Code)) || e.Status < 400 || e.Status > 599 || e.Meaning == "" || e.Remedy == "" {
			t.Errorf("%+v is not a whole entry", e)
		}
	}
	if !slices.IsSorted(registered) {
		t.Errorf("not sorted: %v", registered)
	}
	var declared []fault.Code
	for code := range declaredNames(t) {
		declared = append(declared, code)
	}
	slices.Sort(declared)
	if !slices.Equal(declared, registered) {
		t.Errorf("declared %v\nregistered %v", declared, registered)
	}
}

// declaredNames returns the names of the constants of type Code by their values, from the source.
func declaredNames(t *testing.T) map[fault.Code]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[fault.Code]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Code" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := names[fault.Code(text)]; taken {
			t.Errorf("%s and %s are one code", other, spec.Names[0].Name)
		}
		names[fault.Code(text)] = spec.Names[0].Name
		return false
	})
	return names
}

// A text is a Code too if nobody looks, and a document may name a code that there is no more.
func TestCodesAreAClosedSet(t *testing.T) {
	t.Parallel()
	names, used := declaredNames(t), map[string]bool{}
	for path, text := range sources(t) {
		for _, code := range code.FindAllString(text, -1) {
			if names[fault.Code(code)] == "" {
				t.Errorf("%s: %s is not registered", path, code)
			}
		}
		if path == "internal/base/fault/codes.go" || !strings.HasSuffix(path, ".go") {
			continue
		}
		for _, found := range literal.FindAllString(text, -1) {
			t.Errorf("%s: %s…: a code is written by its constant", path, found)
		}
		for _, word := range word.FindAllString(text, -1) {
			used[word] = true
		}
	}
	for _, name := range names {
		if !used[name] {
			t.Errorf("nothing uses %s", name)
		}
	}
}

var (
	word = regexp.MustCompile(`\b[A-Z]\w+\b`)
	code = regexp.MustCompile(`\bslipway:[A-Z][A-Za-z]+:[A-Z][A-Z_]+\b`)
	// literal is the text of a code, or any text if a code is wanted.
	literal = regexp.MustCompile(`"slipway:[A-Z]\w*:|fault\.(?:New|Invalid|Code)\("|fault\.Is\(\w+, "`)
)

// sources returns the files in which codes are used and described, without tests, by their paths.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := os.DirFS("../../..")
	for _, at := range []string{"cmd", "docs", "graph", "internal", "rest", "schema.graphql"} {
		err := fs.WalkDir(root, at, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path == "graph/generated" || d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains(kinds, filepath.Ext(path)):
				return nil
			}
			text, err := fs.ReadFile(root, path)
			files[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

var kinds = []string{".go", ".graphql", ".json", ".md"}

func TestUnknownErrorsAreMaskedForAllButSuperadmins(t *testing.T) {
	t.Parallel()
	err := errors.New("password authentication failed for user secret")
	masked := fault.Public(err, fault.View{RequestID: "r1"})
	if masked.Code != string(fault.ServerInternal) || masked.Description != "" || masked.IsInternal || masked.Metadata != nil || masked.RequestID != "r1" {
		t.Errorf("masked: %+v", masked)
	}
	shown := fault.Public(err, fault.View{RequestID: "r1", Superadmin: true})
	if !shown.IsInternal || shown.Description != err.Error() {
		t.Errorf("shown to a superadmin: %+v", shown)
	}
	if got := fault.Status(err); got != 500 {
		t.Errorf("status %d", got)
	}
}

func TestViolationsAreListedUnderTheSurfacesRoot(t *testing.T) {
	t.Parallel()
	e := fault.Invalid(fault.RequestInvalid,
		fault.Violation{Pointer: "/name", Rule: "min_length", Message: "must have at least 1 character"},
		fault.Violation{Pointer: fault.Pointer("schema", "a/b~c"), Rule: "unknown_field", Message: "is not a field"})
	wrapped := fmt.Errorf("update: %w", e)
	got := fault.Public(wrapped, fault.View{Root: "/data"})
	want := []string{"/data/name: must have at least 1 character", "/data/schema/a~1b~0c: is not a field"}
	if len(got.Details) != 1 || !slices.Equal(got.Details[0].Items, want) {
		t.Errorf("details %+v, want items %q", got.Details, want)
	}
	if listed, _ := got.Metadata["violations"].([]any); len(listed) != 2 || listed[0].(fault.Violation).Pointer != "/data/name" {
		t.Errorf("metadata %+v", got.Metadata)
	}
	if e.Violations[0].Pointer != "/name" {
		t.Error("showing an error changed it")
	}
	if !fault.Is(wrapped, fault.RequestInvalid) || fault.Is(wrapped, fault.RequestNotFound) || fault.Status(wrapped) != 400 {
		t.Error("a wrapped error is not told by its code")
	}
}

func TestAnotherPlaceIsNamedUnderTheSurfacesRootToo(t *testing.T) {
	t.Parallel()
	var found fault.Violations
	found.AddBeside("/schema/a", "/schema/b", "unique", "must be unique, found %s as at", "\"/schema/a\"")
	inner := found.All("")
	if got := inner[0].Message; got != `must be unique, found "/schema/a" as at /schema/a` {
		t.Errorf("got %s", got)
	}
	got := fault.Public(fault.Invalid(fault.RequestInvalid, fault.Under("/x", inner)...), fault.View{Root: "/data"})
	want := `/data/x/schema/b: must be unique, found "/schema/a" as at /data/x/schema/a`
	if !slices.Equal(got.Details[0].Items, []string{want}) {
		t.Errorf("got %q, want %s", got.Details[0].Items, want)
	}
	for range 2 * fault.MaxViolations {
		found.AddBeside("/a", "/b", "r", "m")
	}
	if found.Count() != 1+2*fault.MaxViolations || len(found.All("")) != fault.MaxViolations+1 {
		t.Errorf("%d violations, %d listed", found.Count(), len(found.All("")))
	}
}

func TestCauseIsForTheLogOnly(t *testing.T) {
	t.Parallel()
	cause := errors.New("secret detail")
	e := fault.New(fault.ServerUnavailable, "The database does not answer.").WithCause(cause)
	if !errors.Is(e, cause) {
		t.Error("the cause is lost")
	}
	if got := fault.Public(e, fault.View{}); got.Message != "The database does not answer." || got.Description != "" {
		t.Errorf("the cause is shown: %+v", got)
	}
}

func TestAFailureIsWhatHasSomethingUnderneath(t *testing.T) {
	t.Parallel()
	cause := errors.New("no route")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no fault at all":             {cause, true},
		"a database that is away":     {fault.New(fault.ServerUnavailable, "Away.").WithCause(cause), true},
		"the same, wrapped":           {fmt.Errorf("read: %w", fault.New(fault.ServerUnavailable, "Away.").WithCause(cause)), true},
		"a full queue":                {fault.New(fault.ServerUnavailable, "Full."), false},
		"time that ran out":           {fault.New(fault.RequestTimeout, "Late.").WithCause(cause), false},
		"a caller's fault":            {fault.New(fault.RequestMalformed, "Bad.").WithCause(cause), false},
		"a limit":                     {fault.New(fault.RequestRateLimited, "Slow down."), false},
		"what has been logged before": {fault.New(fault.ServerInternal, "Internal server error."), false},
	} {
		if got := fault.IsFailure(c.err); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestNounsAreTheResourcesInWords(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]string{
		fault.ProjectNotFound: "Project", fault.ModuleInstanceNotFound: "Module instance", "other": "Record",
		fault.DefaultValueDefinitionNotFound: "Default value definition",
	} {
		if got := code.Noun(); got != want {
			t.Errorf("%s: %q", code, got)
		}
	}
}
