package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/edge/gqlhttp/document"
)

// messages returns those of the errors of a document.
func messages(err error) (list []string) {
	var errs gqlerror.List
	errors.As(err, &errs)
	for _, e := range errs {
		list = append(list, e.Message)
	}
	return list
}

func TestAnErrorIsReportedOnceAndWithoutThoseThatFollowFromIt(t *testing.T) {
	t.Parallel()
	check := checker(tree(t), document.Config{})
	for query, want := range map[string][]string{
		`{ ...f } fragment f on Query { dog }`:                              {`Cannot query field "dog" on type "Query".`},
		`query a { ...f } query b { ...f } fragment f on Query { dog cow }`: {`Cannot query field "dog" on type "Query".`, `Cannot query field "cow" on type "Query".`},
		`{ dog } { dog }`: {
			`Cannot query field "dog" on type "Query".`, `This anonymous operation must be the only defined operation.`,
			`Cannot query field "dog" on type "Query".`, `This anonymous operation must be the only defined operation.`,
		},
		`query a { __typename } query a { __typename }`:              {`There can be only one operation named "a".`},
		`{ cat { name { first last } } }`:                            {`Field "name" must not have a selection since type "String" has no subfields.`},
		`query($n: Int, $n: Int) { herd(first: $n) { __typename } }`: {`There can be only one variable named "$n".`},
		`query($n: Int, $m: Int) { herd(first: $n) { __typename } }`: {`Variable "$m" is never used.`},
	} {
		if diff := cmp.Diff(want, messages(check(query))); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestErrorsThatEachSpreadFindsAgainDoNotKeepValidationGoing(t *testing.T) {
	t.Parallel()
	query := repeat(101, " query q%d { ...f }") + " fragment f on Query { dog }"
	want := []string{`Cannot query field "dog" on type "Query".`, "There may be more errors; validation ended after 1."}
	if diff := cmp.Diff(want, messages(checker(tree(t), document.Config{})(query))); diff != "" {
		t.Error(diff)
	}
}

func TestValidationEndsAfterTwentyErrors(t *testing.T) {
	t.Parallel()
	got := messages(checker(tree(t), document.Config{Introspection: true})("{" + repeat(500, " caat%d") + " }"))
	if len(got) != 21 || got[20] != "There may be more errors; validation ended after 20." {
		t.Errorf("%d errors: %q", len(got), got)
	}
}

func TestFragmentsInACircleAreRefusedAsSuch(t *testing.T) {
	t.Parallel()
	check := checker(tree(t), document.Config{})
	for _, query := range []string{
		`{ ...a } fragment a on Query { ...a }`,
		`{ ...a } fragment a on Query { ...b } fragment b on Query { ...c __typename } fragment c on Query { ...a ...b }`,
		`{ cat { ...a } } fragment a on Animal { mother { ...a } friend { ...a } }`,
		`{ cat { id } } fragment a on Animal { mother { ...b } } fragment b on Animal { friend { ...a } }`,
	} {
		if err := check(query); err == nil || !strings.Contains(err.Error(), "within itself") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestNoNamesAreSuggestedInADocumentOfLongNames(t *testing.T) {
	t.Parallel()
	check := checker(tree(t), document.Config{Introspection: true})
	if err := check("{ caat }"); err == nil || !strings.Contains(err.Error(), "Did you mean") {
		t.Error(err)
	}
	if err := check("{ caat ca" + strings.Repeat("a", 60) + "t }"); err == nil || strings.Contains(err.Error(), "Did you mean") {
		t.Error(err)
	}
}
