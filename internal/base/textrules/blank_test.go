package textrules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
)

// rules are all rules for texts; blanks tells which take a text of which nothing is seen.
var rules = map[string]struct {
	check  func(text string) []fault.Violation
	blanks bool
}{
	"Name":        {func(text string) []fault.Violation { return textrules.Name("/x", text) }, false},
	"GivenID":     {func(text string) []fault.Violation { return textrules.GivenID("/x", text) }, false},
	"Visible":     {func(text string) []fault.Violation { return textrules.Visible("/x", text) }, false},
	"Description": {func(text string) []fault.Violation { return textrules.Description("/x", &text) }, true},
	"Identifier":  {func(text string) []fault.Violation { return textrules.Identifier("/x", &text) }, true},
	"Text":        {func(text string) []fault.Violation { return textrules.Text("/x", text) }, true},
	"Line":        {func(text string) []fault.Violation { return textrules.Line("/x", text) }, true},
	"Path":        {func(text string) []fault.Violation { _, wrong := textrules.Path("/x", text, "part"); return wrong }, false},
	"Reason":      {func(text string) []fault.Violation { return textrules.Reason("/x", text, 500) }, false},
	"Length":      {func(text string) []fault.Violation { return textrules.Length("/x", text, 10) }, true},
}

// unseen are characters that leave no mark, and that no rule refuses for another reason.
var unseen = []string{
	" ", "\u00a0", "\u2003", "\u3000", "\u1680", // spaces
	"\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u200f", "\U000e0041", // format characters
	"\u034f", "\u115f", "\u1160", "\u3164", "\uffa0", "\u17b4", "\ufe0f", "\U000e0100", // shown as nothing by default
	"\u2800", // a Braille pattern without dots
}

func TestEveryRuleSaysWhetherATextMayBeBlank(t *testing.T) {
	t.Parallel()
	for name, rule := range rules {
		for _, blank := range append(unseen, strings.Join(unseen[:4], ""), "   ") {
			found := rule.check(blank)
			if (len(found) == 0) != rule.blanks {
				t.Errorf("%s of %+q: %v", name, blank, found)
			}
			for _, seen := range []string{"é", "7", "-", "🚀", "漢", "\u0301"} {
				if text := blank + seen; name != "GivenID" && name != "Path" && len(rule.check(text)) > 0 {
					t.Errorf("%s of %+q: %v", name, text, rule.check(text))
				}
			}
		}
	}
	want := []fault.Violation{{Pointer: "/x", Rule: "blank", Message: "must have a character that is seen, found 3 that are not"}}
	if diff := cmp.Diff(want, textrules.Name("/x", " \u200b ")); diff != "" {
		t.Error(diff)
	}
	if found := textrules.Visible("/x", ""); len(found) > 0 {
		t.Errorf("an empty text: %v", found)
	}
}

func TestNoRuleIsForgotten(t *testing.T) {
	t.Parallel()
	var known []string
	for name := range rules {
		known = append(known, name)
	}
	slices.Sort(known)
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && file.Name.Name == "textrules" && f.Name.IsExported() && f.Type.Params.List[0].Names[0].Name == "pointer" {
				found = append(found, f.Name.Name)
			}
		}
	}
	slices.Sort(found)
	if diff := cmp.Diff(known, found); diff != "" {
		t.Error(diff)
	}
}
