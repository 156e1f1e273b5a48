package inputvalues_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/pure/release"
)

// worlds calls f for many lists of inputs that break no rule, with values for them.
func worlds(t *testing.T, f func(t *testing.T, list []inputprop.Property, values string)) {
	t.Helper()
	kept := 0
	for seed := range uint64(1000) {
		g := newGenerator(seed)
		list := mustDecodeList(t, "["+g.Inputs(2)+"]")
		violations, _, err := rules.CheckList(t.Context(), list, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(violations) > 0 {
			continue
		}
		kept++
		f(t, list, g.Values(2))
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, inputprop.EncodeList(list))
		}
	}
	if kept < 150 {
		t.Fatalf("only %d of the lists keep the rules", kept)
	}
}

// anywhere is env, but with every instance there.
var anywhere = inputvalues.Env{
	Project: env.Project,
	Options: env.Options,
	Ref: func(ctx context.Context, _, path string) (*strictjson.Node, bool, error) {
		return env.Ref(ctx, instance, path)
	},
}

func resolveAll(t *testing.T, list []inputprop.Property, values *strictjson.Node) *inputvalues.Resolved {
	t.Helper()
	r, violations, err := plain.Resolve(t.Context(), list, values, "", anywhere)
	if err != nil || len(violations) > 0 {
		t.Fatal(violations, err)
	}
	return r
}

func validateAll(t *testing.T, list []inputprop.Property, values *strictjson.Node) []fault.Violation {
	t.Helper()
	violations, err := plain.Validate(t.Context(), list, values, "", anywhere)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

func TestResolvingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	worlds(t, func(t *testing.T, list []inputprop.Property, values string) {
		once := resolveAll(t, list, parse(t, values))
		if diff := cmp.Diff(once, resolveAll(t, list, once.Values)); diff != "" {
			t.Errorf("%s: %s", values, diff)
		}
	})
}

func TestWhatIsResolvedFromGoodValuesIsGood(t *testing.T) {
	t.Parallel()
	good := 0
	worlds(t, func(t *testing.T, list []inputprop.Property, values string) {
		if len(validateAll(t, list, parse(t, values))) > 0 {
			values = "{}"
		}
		if len(validateAll(t, list, parse(t, values))) > 0 {
			return
		}
		good++
		if violations := validateAll(t, list, resolveAll(t, list, parse(t, values)).Values); len(violations) > 0 {
			t.Errorf("%s: %v", values, violations)
		}
	})
	if good < 100 {
		t.Errorf("only %d values are good", good)
	}
}

func TestResolvingTheInputsOfAReleaseGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	sealed := map[string]bool{}
	worlds(t, func(t *testing.T, list []inputprop.Property, values string) {
		for _, values := range []string{values, "{}"} {
			if len(validateAll(t, list, parse(t, values))) > 0 {
				continue
			}
			first := seal(t, resolveAll(t, list, parse(t, values)).Values)
			again := resolveAll(t, list, parse(t, first))
			if second := seal(t, again.Values); second != first {
				t.Errorf("%s\nfirst %s\nagain %s", values, first, second)
			}
			inputprop.Walk(list, "", func(p inputprop.Property, _ string) {
				if again.Values.Get(p.Head().ID) != nil {
					sealed[p.Head().Type] = true
				}
			})
		}
	})
	delete(sealed, "section") // shares its id with an input of another level
	if len(sealed) != 13 {
		t.Errorf("only %d variants have had values: %v", len(sealed), sealed)
	}
}

// seal returns the inputs of the release that has the values.
func seal(t *testing.T, values *strictjson.Node) string {
	t.Helper()
	s, err := release.Seal(release.Unsealed{ModuleVersionID: "v", Kind: "k", Inputs: values})
	if err != nil {
		t.Fatal(err)
	}
	content, err := release.Open(s.Digest, s.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return string(content.Inputs)
}

func TestDefaultsOfInputsThatKeepTheRulesKeepThemToo(t *testing.T) {
	t.Parallel()
	worlds(t, func(t *testing.T, list []inputprop.Property, _ string) {
		// A default may leave something to be filled in.
		for _, v := range validateAll(t, list, nil) {
			if v.Rule != "required" && v.Rule != "key_empty" {
				t.Error(v)
			}
		}
	})
}

func TestWhatIsHiddenIsNotJudged(t *testing.T) {
	t.Parallel()
	worlds(t, func(t *testing.T, list []inputprop.Property, values string) {
		visible := resolveAll(t, list, parse(t, values)).Levels[0].Visible
		for _, v := range validateAll(t, list, parse(t, values)) {
			if id := v.Pointer[1:]; len(id) == 1 && v.Rule != "unknown_input" && !slices.Contains(visible, id) {
				t.Errorf("%s: %v of %v", values, v, visible)
			}
		}
	})
}
