package inputrules_test

import (
	"slices"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputrules"
)

func TestRulesOverSeveralMembersAreCheckedAtAnyDepth(t *testing.T) {
	t.Parallel()
	section := func(id string) string { return `{"id":"` + id + `","label":"A","type":"section"}` }
	number := func(bounds string) string { return `{"id":"n","label":"N","type":"number"` + bounds + `}` }
	collection := func(kind, id, items string) string {
		return `{"id":"` + id + `","label":"C","type":"` + kind + `","item_inputs":[` + items + `]}`
	}
	reference := func(id, items string) string {
		return `{"id":"` + id + `","label":"R","type":"$ref:vpc","mapped_inputs":[` + items + `]}`
	}
	for text, want := range map[string][]string{
		number(`,"min":1,"max":1`): {},
		number(`,"min":2`):         {},
		number(`,"max":-2`):        {},
		number(`,"min":2,"max":1`): {"/inputs/0/min min_max"},
		collection("object_map", "m", number(`,"min":2,"max":1`)):                                         {"/inputs/0/item_inputs/0/min min_max"},
		collection("object_array", "m", collection("object_map", "m", number(`,"min":2,"max":1`))):        {"/inputs/0/item_inputs/0/item_inputs/0/min min_max"},
		reference("r", number(`,"min":2,"max":1`)):                                                        {"/inputs/0/mapped_inputs/0/min min_max"},
		section("a") + "," + section("b"):                                                                 {},
		section("a") + "," + section("b") + "," + section("a") + "," + section("a"):                       {"/inputs/2/id unique_id", "/inputs/3/id unique_id"},
		section("a") + "," + collection("object_map", "m", section("a")):                                  {},
		collection("object_map", "m", section("a")) + "," + collection("object_array", "n", section("a")): {},
		collection("object_array", "m", section("a")+","+section("a")):                                    {"/inputs/0/item_inputs/1/id unique_id"},
		section("a") + "," + reference("r", section("a")):                                                 {"/inputs/1/mapped_inputs/0/id unique_id"},
		reference("r", section("r")):                                                                      {"/inputs/0/mapped_inputs/0/id unique_id"},
		reference("r", section("a")) + "," + reference("s", section("a")) + "," + section("a"):            {"/inputs/1/mapped_inputs/0/id unique_id", "/inputs/2/id unique_id"},
	} {
		list, violations := inputprop.DecodeList(parse(t, "["+text+"]"), "")
		if len(violations) > 0 {
			t.Fatal(violations)
		}
		if got := places(checkedPlain(t, list, "/inputs")); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestOnePropertyIsCheckedFromItsRoot(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, `{"id":"n","label":"N","type":"number","min":3,"max":-4}`)
	violations := checkedAlone(t, p, "/schema")
	if len(violations) != 1 || violations[0].Pointer != "/schema/min" || violations[0].Message != "must not be more than max, found 3, and -4 at /schema/max" {
		t.Error(violations)
	}
	p = mustDecode(t, `{"id":"r","label":"R","type":"$ref:vpc","mapped_inputs":[{"id":"r","label":"R","type":"text"}]}`)
	violations = checkedAlone(t, p, "/schema")
	if len(violations) != 1 || violations[0].Message != `must be unique on its level, found "r" as at /schema/id` {
		t.Error(violations)
	}
}

// checked returns the violations of a list of properties that is written without its brackets.
func checked(t testing.TB, list string) ([]fault.Violation, []inputprop.Warning) {
	t.Helper()
	violations, warnings, err := rules.CheckList(t.Context(), mustDecodeList(t, "["+list+"]"), "")
	if err != nil {
		t.Fatal(err)
	}
	return violations, warnings
}

// checkedAlone returns what an engine without patterns finds wrong with a property that stands alone.
func checkedAlone(t testing.TB, p inputprop.Property, at string) []fault.Violation {
	t.Helper()
	violations, _, err := inputrules.NewEngine(nil).Check(t.Context(), p, at)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

// checkedPlain is checkedAlone for the inputs of a module.
func checkedPlain(t testing.TB, list []inputprop.Property, at string) []fault.Violation {
	t.Helper()
	violations, _, err := inputrules.NewEngine(nil).CheckList(t.Context(), list, at)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}
