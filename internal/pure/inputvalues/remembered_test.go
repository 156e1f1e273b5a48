package inputvalues_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

const (
	fixed = `"immutable":true`
	least = `"min_current_value":true`
)

func TestWhatTheInputOfNowRefusesBindsNothing(t *testing.T) {
	t.Parallel()
	text := in("a", "text", fixed)
	for what, c := range map[string]struct{ before, had, now, values, want string }{
		"another type, left out":          {text, `{"a":"x"}`, in("a", "number", fixed), `{}`, `{}`},
		"another type, with a default":    {text, `{"a":"x"}`, in("a", "number", fixed, `"default":3`), `{}`, `{"a":3}`},
		"another type, entered":           {text, `{"a":"x"}`, in("a", "number", fixed), `{"a":4}`, `{"a":4}`},
		"another type, entered as it was": {text, `{"a":"x"}`, in("a", "number", fixed), `{"a":"x"}`, "/a type"},
		"a type that takes it":            {text, `{"a":"x"}`, in("a", "string", fixed), `{"a":"y"}`, "/a immutable"},
		"a pattern":                       {text, `{"a":"X"}`, in("a", "text", fixed, lower), `{"a":"y"}`, `{"a":"y"}`},
		"a pattern that it matches":       {text, `{"a":"x"}`, in("a", "text", fixed, lower), `{"a":"y"}`, "/a immutable"},
		"a pattern that gives no answer":  {text, `{"a":"x"}`, in("a", "text", fixed, `"patterns":[{"pattern":"slow","message":"m"}]`), `{"a":""}`, "/a immutable"},
		"required":                        {text, `{"a":""}`, in("a", "text", fixed, `"required":true`), `{"a":"y"}`, `{"a":"y"}`},
		"values":                          {in("a", "string", fixed), `{"a":"x"}`, in("a", "string", fixed, listed), `{"a":"b"}`, `{"a":"b"}`},
		"min":                             {in("a", "number", fixed), `{"a":1}`, in("a", "number", fixed, `"min":2`), `{}`, `{}`},
		"max, of the least":               {in("a", "number", least), `{"a":9}`, in("a", "number", least, `"max":5`), `{"a":3}`, `{"a":3}`},
		"fields of a compound":            {in("a", "compound", fixed, sizes), `{"a":{"cpu":1,"mem":"2G"}}`, in("a", "compound", fixed, strings.Replace(sizes, `["cpu","mem"]`, `["cpu"]`, 1)), `{"a":{"cpu":4}}`, `{"a":{"cpu":4}}`},
		"keys become texts":               {in("a", "object", fixed), `{"a":{"k":1}}`, in("a", "keyvalue", fixed), `{}`, `{}`},
		"an object becomes a map":         {in("a", "object", fixed), `{"a":{"k":1}}`, mapOf("a", in("b", "text"), fixed), `{"a":{}}`, `{"a":{}}`},
		"an item input that is required": {mapOf("a", in("b", "text"), fixed), `{"a":{"k":{"b":"x"}}}`, mapOf("a", in("b", "text")+","+in("c", "text", `"required":true`), fixed),
			`{"a":{"k":{"b":"y","c":"z"}}}`, `{"a":{"k":{"b":"y","c":"z"}}}`},
		"an item input that is gone": {mapOf("a", in("b", "text")+","+in("c", "text"), fixed), `{"a":{"k":{"b":"x","c":"z"}}}`, mapOf("a", in("b", "text"), fixed), `{"a":{}}`, `{"a":{}}`},
		"an item input with a default, left out": {mapOf("a", in("b", "text"), fixed), `{"a":{"k":{"b":"x"}}}`, mapOf("a", in("b", "text")+","+in("c", "number", `"default":3`), fixed),
			`{}`, `{"a":{"k":{"b":"x","c":3}}}`},
		"an item input with a default, entered": {mapOf("a", in("b", "text"), fixed), `{"a":{"k":{"b":"x"}}}`, mapOf("a", in("b", "text")+","+in("c", "number", `"default":3`), fixed),
			`{"a":{"k":{"b":"x"}}}`, `{"a":{"k":{"b":"x","c":3}}}`},
		"an item input with a default, changed": {mapOf("a", in("b", "text"), fixed), `{"a":{"k":{"b":"x"}}}`, mapOf("a", in("b", "text")+","+in("c", "number", `"default":3`), fixed),
			`{"a":{"k":{"b":"x","c":4}}}`, "/a immutable"},
		"within items":                 {mapOf("m", in("a", "text", fixed)), `{"m":{"k":{"a":"x"},"l":{"a":"7"}}}`, mapOf("m", in("a", "number", fixed)), `{"m":{"k":{},"l":{"a":7}}}`, `{"m":{"k":{},"l":{"a":7}}}`},
		"one item of two":              {arrayOf("m", in("a", "text", fixed)+","+in("b", "text", fixed)), `{"m":[{"a":"x","b":"1"},{"a":"Y","b":"2"}]}`, arrayOf("m", in("a", "text", fixed, lower)+","+in("b", "text", fixed)), `{"m":[{"b":"3"},{"a":"y","b":"2"}]}`, `{"m":[{"b":"3"},{"a":"y","b":"2"}]}`},
		"a reference to another type":  {`{"id":"a","label":"A","type":"$ref:other",` + fixed + `}`, `{"a":"` + elsewhere + `"}`, in("a", "$ref:net", fixed), `{}`, `{}`},
		"another instance than before": {in("a", "$ref:net", fixed), `{"a":"` + elsewhere + `"}`, in("a", "$ref:net", fixed), `{"a":"` + instance + `"}`, `{"a":"` + instance + `"}`},
	} {
		bindsIn(t, refusing, what, c.now, c.values, c.want, [2]string{c.before, c.had})
	}
	// What binds nothing is remembered until a success has another value: a version that takes it is bound by it.
	number := in("a", "number", fixed)
	binds(t, "back to the version that took it", text, `{"a":"y"}`, "/a immutable", [2]string{text, `{"a":"x"}`}, [2]string{number, `{}`})
	binds(t, "the next success is remembered", number, `{"a":4}`, "/a immutable", [2]string{text, `{"a":"x"}`}, [2]string{number, `{"a":3}`})
}

// elsewhere is an instance that refusing lets nobody choose.
const elsewhere = "inst_01h455vb4pex5vsknk084sn02r"

// refusing is env, but some of the instances may not be chosen.
var refusing = func() inputvalues.Env {
	e := env
	e.Reference = func(id, _ string) (string, bool) {
		if id == elsewhere {
			return "must be another", true
		}
		return "", true
	}
	return e
}()

func TestNobodySetsAValueFreeByWhatTheyEnterBesideIt(t *testing.T) {
	t.Parallel()
	zones := in("region", "string") + "," + in("zone", "string", fixed, `"values":{"source":"zones","params":{"region":{"input":"region"}}}`)
	had := [2]string{zones, `{"region":"x","zone":"x-1"}`}
	binds(t, "options of another region", zones, `{"region":"y","zone":"y-1"}`, "/zone immutable", had)
	binds(t, "options of no region", zones, `{"zone":"z-1"}`, "/zone immutable", had)
	binds(t, "a zone that is gone", zones, `{"region":"y","zone":"y-1"}`, `{"region":"y","zone":"y-1"}`, [2]string{zones, `{"region":"x","zone":"x-9"}`})
	unlooked := env
	unlooked.Reference = func(id, _ string) (string, bool) {
		if id == elsewhere {
			return "must be among the first", false
		}
		return "", true
	}
	chosen := in("a", "$ref:net", fixed)
	bindsIn(t, unlooked, "a reference that nobody has looked at", chosen, `{"a":"`+instance+`"}`, "/a immutable", [2]string{chosen, `{"a":"` + elsewhere + `"}`})
}

func TestTheLeastValueIsRememberedAsAnImmutableOneIs(t *testing.T) {
	t.Parallel()
	on := in("on", "boolean", `"default":true`)
	size := on + "," + in("n", "number", least, shown(`"on":true`))
	binds(t, "hidden, back below", size, `{"n":4}`, "/n min_current_value", [2]string{size, `{"on":true,"n":5}`}, [2]string{size, `{"on":false}`}, [2]string{size, `{"on":false}`})
	binds(t, "hidden, back above", size, `{"n":6}`, `{"on":true,"n":6}`, [2]string{size, `{"on":true,"n":5}`}, [2]string{size, `{"on":false}`})
	binds(t, "left out", size, `{"n":4}`, "/n min_current_value", [2]string{size, `{"on":true,"n":5}`}, [2]string{size, `{"on":true}`})
	binds(t, "null", size, `{"n":4}`, "/n min_current_value", [2]string{size, `{"on":true,"n":5}`}, [2]string{size, `{"on":true,"n":null}`})
	binds(t, "the last success counts", size, `{"n":5}`, "/n min_current_value", [2]string{size, `{"on":true,"n":5}`}, [2]string{size, `{"on":true,"n":6}`}, [2]string{size, `{"on":false}`})
	plan := on + "," + in("p", "string", least, `"values":["s","m","l"]`, shown(`"on":true`))
	binds(t, "an option, back before", plan, `{"p":"s"}`, "/p min_current_value", [2]string{plan, `{"on":true,"p":"m"}`}, [2]string{plan, `{"on":false}`})
	disks := mapOf("m", on+","+in("n", "number", least, shown(`"on":true`)))
	binds(t, "hidden in an item", disks, `{"m":{"a":{"n":4}}}`, "/m/a/n min_current_value", [2]string{disks, `{"m":{"a":{"on":true,"n":5}}}`}, [2]string{disks, `{"m":{"a":{"on":false}}}`})
	binds(t, "an item that was removed", disks, `{"m":{"a":{"n":4}}}`, `{"m":{"a":{"on":true,"n":4}}}`, [2]string{disks, `{"m":{"a":{"on":true,"n":5}}}`}, [2]string{disks, `{"m":{}}`})
}

func TestItemsOfListsAreMatchedAfterDefaults(t *testing.T) {
	t.Parallel()
	list := arrayOf("l", in("id", "string", fixed, `"default":"a"`)+","+in("s", "number", fixed))
	had := [2]string{list, `{"l":[{"id":"a","s":1},{"id":"b","s":2}]}`}
	binds(t, "the default tells it apart", list, `{"l":[{"id":"b","s":2},{"s":9}]}`, "/l/1/s immutable", had)
	binds(t, "the default, as it was", list, `{"l":[{"id":"b","s":2},{"s":1}]}`, `{"l":[{"id":"b","s":2},{"id":"a","s":1}]}`, had)
	binds(t, "a default of no item before", list, `{"l":[{"id":"b","s":2},{"s":9}]}`, `{"l":[{"id":"b","s":2},{"id":"a","s":9}]}`, [2]string{list, `{"l":[{"id":"b","s":2}]}`})
	binds(t, "two with the default", list, `{"l":[{},{}]}`, `{"l":[{"id":"a","s":1},{"id":"b","s":2}]}`, had)
	first := arrayOf("l", in("id", "string", fixed, listed, `"default":"$values:first"`)+","+in("s", "number", fixed))
	binds(t, "the first of the values", first, `{"l":[{"id":"b","s":2},{"s":9}]}`, "/l/1/s immutable", had)
	hidden := arrayOf("l", in("id", "string", fixed, `"default":"a"`, shown(`"s":{"not":9}`))+","+in("s", "number")+","+in("t", "number", fixed))
	binds(t, "a default that is hidden", hidden, `{"l":[{"id":"b","s":2,"t":2},{"s":9,"t":1}]}`, `{"l":[{"id":"b","s":2,"t":2},{"s":9,"t":1}]}`,
		[2]string{hidden, `{"l":[{"id":"a","s":1,"t":1},{"id":"b","s":2,"t":2}]}`})
	inner := arrayOf("o", in("k", "string", fixed, `"default":"x"`)+","+list)
	binds(t, "lists of lists", inner, `{"o":[{"k":"y"},{"l":[{"id":"b","s":2},{"s":9}]}]}`, "/o/1/l/1/s immutable", [2]string{inner, `{"o":[{"k":"x","l":[{"id":"a","s":1},{"id":"b","s":2}]}]}`})
}

// Matching the items of lists in lists must not take twice as long at each level.
func TestMatchingNestedListsTakesNoMoreThanALittleAtEachLevel(t *testing.T) {
	t.Parallel()
	list, values, depth := "", "{}", 14
	for range depth {
		more := ""
		if list != "" {
			more = "," + list
		}
		list = arrayOf("l", in("id", "string", fixed, `"default":"a"`)+more)
		values = `{"l":[` + values + `]}`
	}
	bound := env
	bound.Previous = parse(t, strings.ReplaceAll(values, `{"l"`, `{"id":"a","l"`))
	inputs := mustDecodeList(t, "["+list+"]")
	cost := func(e inputvalues.Env) int {
		m := meter.New(meter.Limits{}, 0, nil)
		if _, err := plain.Validate(meter.With(t.Context(), m), inputs, parse(t, values), "", e); err != nil {
			t.Fatal(err)
		}
		return m.Cost()
	}
	if before, after := cost(env), cost(bound); after > 6*before {
		t.Errorf("it costs %d without a release before, %d with one", before, after)
	}
}

func TestNobodyIsRefusedForWhatNobodyEntered(t *testing.T) {
	t.Parallel()
	held, kept := 0, 0
	worlds(t, func(t *testing.T, list []inputprop.Property, values string) {
		for _, previous := range []string{values, newGenerator(uint64(len(values))).Values(2)} {
			bound := anywhere
			bound.Previous = parse(t, previous)
			violations, err := plain.Validate(t.Context(), list, nil, "", bound)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range violations {
				if !slices.Contains([]string{"required", "key_empty", "min_current_value", "template_unresolved"}, v.Rule) {
					t.Errorf("after %s: %v", previous, v)
				}
			}
			// What would be remembered, and is refused, is not shown; all else is.
			shown, _, err := plain.Resolve(t.Context(), list, nil, "", bound)
			if err != nil {
				t.Fatal(err)
			}
			unbound := unbound(t, list, bound)
			for _, p := range list {
				id, was := p.Head().ID, bound.Previous.Get(p.Head().ID)
				if !p.Traits().Immutable || was == nil || was.Kind == strictjson.Null || !slices.Contains(shown.Levels[0].Visible, id) {
					continue
				}
				held++
				refused := slices.ContainsFunc(unbound, func(u inputvalues.Unbound) bool { return u.Input == p })
				value := shown.Values.Get(id)
				if same := value != nil && strictjson.Equal(value, was); !refused && !same && !p.Nested().IsCollection() {
					t.Errorf("after %s: %s is %s", previous, id, value.JSON())
				} else if same {
					kept++
				}
			}
		}
	})
	if kept < 20 || held-kept < 20 {
		t.Errorf("of %d values that were remembered, %d were kept", held, kept)
	}
}

func TestWhatASuccessHadBindsTheSameInputs(t *testing.T) {
	t.Parallel()
	changed := 0
	worlds(t, func(t *testing.T, list []inputprop.Property, values string) {
		if len(validateAll(t, list, parse(t, values))) > 0 {
			values = "{}"
		}
		if len(validateAll(t, list, parse(t, values))) > 0 {
			return
		}
		live := resolveAll(t, list, parse(t, values)).Values
		bound := anywhere
		bound.Previous = inputvalues.Overlay(live, inputvalues.Baseline(list, live, nil))
		for i, id := range live.Keys {
			in := inputprop.NewLevel(list).ByID[id]
			if in.Owner != nil || !in.Traits.Immutable || live.Items[i].Kind == strictjson.Null {
				continue
			}
			changed++
			other := parse(t, string(live.JSON()))
			other.Items[i] = &strictjson.Node{Kind: strictjson.Number, Text: "77777"}
			violations, err := plain.Validate(t.Context(), list, other, "", bound)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(places(violations), ";"), "/"+id+" immutable") {
				t.Errorf("%s after %s: %v", other.JSON(), live.JSON(), violations)
			}
		}
	})
	if changed < 30 {
		t.Errorf("only %d values were changed", changed)
	}
}

// unbound returns what binds nothing of the values before.
func unbound(t *testing.T, list []inputprop.Property, before inputvalues.Env) (found []inputvalues.Unbound) {
	t.Helper()
	nothing := parse(t, "{}")
	err := plain.Unbound(t.Context(), list, []*strictjson.Node{nothing, before.Previous}, before, func(i int, u inputvalues.Unbound) {
		if found = append(found, u); i != 1 {
			t.Errorf("%s of nothing", u.Input.Head().ID)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestUnboundNamesEachInputThatRefuses(t *testing.T) {
	t.Parallel()
	list := mustDecodeList(t, "["+in("a", "number", fixed)+","+in("b", "number", least, `"max":3`)+","+in("c", "number")+","+
		mapOf("m", in("d", "text", fixed, lower)+","+in("e", "boolean", `"default":true`, fixed))+"]")
	bound := env
	bound.Previous = parse(t, `{"a":"x","b":4,"c":"x","m":{"k":{"d":"X","e":false},"l":{"d":"x"},"n":{"d":"Y","e":1}},"z":1}`)
	var got []string
	for _, u := range unbound(t, list, bound) {
		got = append(got, u.Input.Head().ID+" "+u.Rule)
	}
	if want := []string{"a type", "b max", "d pattern", "d pattern", "e type"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	busy := mustDecodeList(t, "["+in("a", "text", fixed, `"patterns":[{"pattern":"busy","message":"m"}]`)+"]")
	err := plain.Unbound(t.Context(), busy, []*strictjson.Node{parse(t, `{"a":"x"}`)}, env, func(int, inputvalues.Unbound) { t.Error("refused") })
	if !errors.Is(err, errBusy) {
		t.Errorf("patterns that nobody runs: %v", err)
	}
	if text := fmt.Sprint(inputvalues.InstanceIDs(parse(t, `{"a":["`+instance+`","inst_1"],"b":{"c":"`+elsewhere+`"},"d":"x `+instance+`"}`))); text != "["+instance+" "+elsewhere+"]" {
		t.Errorf("ids %s", text)
	}
}
