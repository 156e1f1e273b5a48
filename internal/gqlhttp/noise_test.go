package gqlhttp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/gqlhttp"
)

func TestAnErrorIsToldOnceAndWithoutThoseThatFollowFromIt(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{})
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
		var told []string
		for _, e := range s.run(t, query, "").Errors {
			told = append(told, e.Message)
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestErrorsThatEachSpreadFindsAgainDoNotKeepValidationGoing(t *testing.T) {
	t.Parallel()
	a := treeServer(gqlhttp.Config{}).run(t, repeat(101, " query q%d { ...f }")+" fragment f on Query { dog }", "")
	if len(a.Errors) != 2 || a.Errors[1].Message != "There may be more errors; validation ended after 1." {
		t.Error(a.Body)
	}
}
