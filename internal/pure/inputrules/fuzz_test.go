package inputrules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
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

func FuzzCheck(f *testing.F) {
	f.Add([]byte(fixture(f)))
	for seed := range uint64(50) {
		f.Add([]byte("[" + newGenerator(seed).Inputs(2) + "]"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list := fuzzed(t, text)
		violations, _, err := rules.CheckList(t.Context(), list, "")
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := rules.CheckList(t.Context(), fuzzed(t, inputprop.EncodeList(list)), "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(violations, again); diff != "" {
			t.Error(diff)
		}
	})
}
