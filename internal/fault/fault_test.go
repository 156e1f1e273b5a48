package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"slipway/internal/fault"
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
	declared := declaredCodes(t)
	slices.Sort(declared)
	if !slices.Equal(declared, registered) {
		t.Errorf("declared %v\nregistered %v", declared, registered)
	}
}

// declaredCodes reads the constants of type Code from the source.
func declaredCodes(t *testing.T) []fault.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []fault.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Code" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, fault.Code(text))
		return false
	})
	return codes
}

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
