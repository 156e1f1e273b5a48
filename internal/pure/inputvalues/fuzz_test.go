package inputvalues_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// fuzzed decodes a list, and gives up if there is none.
func fuzzed(t *testing.T, text []byte) []inputprop.Property {
	n, err := strictjson.Parse(text)
	if err != nil {
		t.Skip("no JSON")
	}
	list, violations := inputprop.DecodeList(n, "")
	if len(violations) > 0 {
		t.Skip("no inputs")
	}
	return list
}

func FuzzShowWhen(f *testing.F) {
	g := newGenerator(1)
	for range 50 {
		f.Add(g.Condition(), g.Value(1))
	}
	f.Fuzz(func(t *testing.T, condition, source string) {
		for _, text := range []string{condition, source} {
			if _, err := strictjson.ParseWithin([]byte(text), strictjson.Limits{Depth: 8}); err != nil {
				t.Skip("no JSON")
			}
		}
		if isShown(t, `[`+source+`]`, condition) == isShown(t, `[`+source+`]`, `{"not":`+condition+`}`) {
			t.Errorf("%s and its opposite are the same for [%s]", condition, source)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for seed := range uint64(50) {
		g := newGenerator(seed)
		f.Add([]byte("["+g.Inputs(2)+"]"), []byte(g.Values(2)))
	}
	f.Fuzz(func(t *testing.T, text, given []byte) {
		list := fuzzed(t, text)
		values, err := strictjson.Parse(given)
		if err != nil {
			t.Skip("no JSON")
		}
		known := env
		known.Ref, known.Options = nil, nil
		once, _, err := plain.Resolve(t.Context(), list, values, "", known)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plain.Validate(t.Context(), list, values, "", inputvalues.Env{Previous: once.Values}); err != nil {
			t.Fatal(err)
		}
		if violations, _, _ := rules.CheckList(t.Context(), list, ""); len(violations) > 0 {
			return
		}
		twice, _, err := plain.Resolve(t.Context(), list, once.Values, "", known)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Error(diff)
		}
	})
}
