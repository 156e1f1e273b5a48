package graph_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/quota"
	"slipway/internal/pure/module"
	"slipway/internal/server"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// aliases repeats a field under n aliases.
func aliases(n int, field string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d: %s", i, field)
	}
	return b.String()
}

// metadata is that of the first error.
func metadata(t testing.TB, r worldtest.Response) map[string]any {
	t.Helper()
	m, _ := r.At(t, "errors", 0, "extensions", "metadata").(map[string]any)
	return m
}

func used(t testing.TB, r worldtest.Response) string {
	t.Helper()
	return fmt.Sprint(r.At(t, "extensions", "cost", "used"))
}

// node is the tree of a JSON text.
func node(t testing.TB, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// described is the input of a definition whose description has n characters.
func described(givenID string, n int) map[string]any {
	return map[string]any{
		"givenId": givenID, "name": "n", "description": strings.Repeat("d", n),
		"schema": map[string]any{"string": map[string]any{"id": "a", "label": "A"}},
	}
}

const createDefault = `mutation($a: CreateDefaultValueDefinitionInput!, $b: CreateDefaultValueDefinitionInput!) {
	a: createDefaultValueDefinition(input: $a) { defaultValueDefinition { id description } }
	b: createDefaultValueDefinition(input: $b) { defaultValueDefinition { id } } }`

// answering is the world with a limit on its answers.
func answering(t testing.TB, w *worldtest.World, bytes int) *worldtest.World {
	t.Helper()
	return w.Serving(t, func(c *server.Config) { c.Limits.Answer = bytes })
}

func TestAnAnswerIsAsLongAsItMayBeAndNoLonger(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		w.GraphQL(t, admin, createDefault, map[string]any{"a": described("a", 3000), "b": described("b", 3000)})
		const query = `{ viewer { name } defaultValueDefinitions { nodes { text: description } } }`
		whole := w.GraphQL(t, admin, query, nil)
		data, _ := json.Marshal(whole.At(t, "data"))
		for most, fits := range map[int]bool{len(data): true, len(data) - 1: false, 5500: false, 1000: false} {
			r := answering(t, w, most).GraphQL(t, admin, query, nil)
			if got := r.At(t, "errors") == nil; got != fits {
				t.Errorf("%d bytes of at most %d: %.300s", len(data), most, r.Body)
			}
			if fits {
				continue
			}
			m := metadata(t, r)
			if r.Code(t) != string(fault.RequestAnswerTooLarge) || strings.Contains(string(r.Body), `"data"`) ||
				m["limit"] != "answer" || fmt.Sprint(m["value"]) != fmt.Sprint(most) {
				t.Errorf("at most %d: %.600s", most, r.Body)
			}
			// So little is over what may be read, before a text was asked for.
			dearest := map[int]string{1000: "defaultValueDefinitions", 5500: "defaultValueDefinitions.nodes.text"}[most]
			if dearest != "" && m["path"] != dearest {
				t.Errorf("at most %d: the dearest path is %v, want %s", most, m["path"], dearest)
			}
		}
	})
}

func TestAMutationWhoseAnswerIsTooLongSaysThatItWasCarriedOut(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		r := answering(t, w, 2000).GraphQL(t, admin, createDefault, map[string]any{"a": described("a", 3000), "b": described("b", 1)})
		m := metadata(t, r)
		if r.Code(t) != string(fault.RequestAnswerTooLarge) || m["committed"] != true || r.At(t, "data", "a") != nil || r.At(t, "data") == nil {
			t.Fatalf("%s", r.Body)
		}
		made := w.GraphQL(t, admin, `{ defaultValueDefinitions { nodes { id givenId } } }`, nil)
		if ids, _ := m["ids"].([]any); len(ids) != 1 || ids[0] != made.Text(t, "data", "defaultValueDefinitions", "nodes", 0, "id") {
			t.Errorf("ids %v: %s", m["ids"], made.Body)
		}
		// The second was not begun.
		if nodes, _ := made.At(t, "data", "defaultValueDefinitions", "nodes").([]any); len(nodes) != 1 {
			t.Errorf("%s", made.Body)
		}
		second, _ := r.At(t, "errors", 1, "extensions", "metadata").(map[string]any)
		if r.Text(t, "errors", 1, "path", 0) != "b" || second["committed"] != nil {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestNeighboursOfARefusedFieldAnswer(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		r := w.GraphQL(t, admin, createDefault, map[string]any{"a": described("same", 1), "b": described("same", 1)})
		if r.At(t, "data", "a", "defaultValueDefinition", "id") == nil || r.At(t, "data", "b") != nil ||
			r.Code(t) != string(fault.DefaultValueDefinitionGivenIDTaken) {
			t.Errorf("%s", r.Body)
		}
		r = w.GraphQL(t, admin, `{ viewer { name } projects(first: 101) { totalCount } }`, nil)
		if r.At(t, "data", "viewer", "name") == nil || r.At(t, "data", "projects") != nil || r.Code(t) != string(fault.RequestInvalid) {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestAListThatADefaultCutSaysSo(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, viewer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Viewer]
		for i := range 20 { // with the place's own, one more than a page has
			p.NewInstance(t, fmt.Sprint("i", i))
		}
		for query, want := range map[string]string{
			`{ moduleInstances { nodes { id } } }`:                                                            "[moduleInstances]",
			`{ moduleInstances(first: 20) { nodes { id } } }`:                                                 "<nil>",
			`{ moduleInstances(last: 5) { nodes { id } } }`:                                                   "<nil>",
			`{ all: projects { nodes { environments { nodes { moduleInstances { edges { cursor } } } } } } }`: "[all.nodes.environments.nodes.moduleInstances]",
			`{ projects { nodes { id } } }`:                                                                   "<nil>",
		} {
			r := w.GraphQL(t, viewer, query, nil)
			if got := fmt.Sprint(r.At(t, "extensions", "truncated")); got != want || r.At(t, "errors") != nil {
				t.Errorf("%s: %s, want %s: %.300s", query, got, want, r.Body)
			}
		}
	})
}

func TestAnOperationCostsTheItemsThatItsListsHave(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, viewer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Viewer]
		for i := range 9 {
			p.NewInstance(t, fmt.Sprint("i", i))
		}
		for query, want := range map[string]string{
			`{ moduleInstances(first: 100) { nodes { id } } }`:                    "13", // 1 + 1 + 10 * (1 + 0.1)
			`{ moduleInstances { nodes { id } } }`:                                "13",
			`{ moduleInstances(first: 3) { nodes { id } } }`:                      "6",
			`{ moduleInstances { edges { node { id } } } }`:                       "23", // an edge has a node
			`{ projects { nodes { environments { nodes { id } } } } }`:            "7",
			`{ moduleInstances(first: 100) { a: nodes { id } b: nodes { id } } }`: "25",
		} {
			if r := w.GraphQL(t, viewer, query, nil); used(t, r) != want {
				t.Errorf("%s: %s, want %s", query, used(t, r), want)
			}
		}
		few := w.Serving(t, func(c *server.Config) { c.Limits.Cost = 12 })
		r := few.GraphQL(t, viewer, `{ moduleInstances { nodes { id } } viewer { name } }`, nil)
		if r.Code(t) != string(fault.DocumentLimitExceeded) || metadata(t, r)["path"] != "moduleInstances.nodes" || r.At(t, "data", "viewer") == nil && r.At(t, "data", "moduleInstances") != nil {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestEligibilitiesCostEachReleaseThatTheyProveOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		first := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:`+strings.Repeat("a", 9<<10)+`"}`), nil)
		rolled, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: first.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, rolled, nil)
		cost := func(role actor.Role, field string) int {
			r := w.GraphQL(t, w.Acme.Tokens[role], `{ deployments(first: 10) { nodes { `+field+` { allowed } } } }`, nil)
			n, err := strconv.Atoi(used(t, r))
			if err != nil || r.At(t, "errors") != nil {
				t.Fatalf("%v: %s", err, r.Body)
			}
			return n
		}
		// Who may not deploy is refused before a release is read.
		for _, field := range []string{"rollbackEligibility", "redeployEligibility", "both: rollbackEligibility { refusal { code } } redeployEligibility"} {
			proof := cost(actor.Developer, field) - cost(actor.Viewer, field)
			if proof < 9 || proof > 11 {
				t.Errorf("%s: the proof of one release of 9 KiB and a little costs %d", field, proof)
			}
		}
	})
}

func TestNaturalQueriesFitWithRoom(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for i := range 3 {
			w.Fixture(t, w.Acme, fmt.Sprint("web", i))
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer],
			`{ projects { nodes { environments { nodes { moduleInstances { nodes { id name liveDeployment { id status } } } } } } } }`, nil)
		if r.At(t, "errors") != nil {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestAnInputCostsWhatIsAskedOfItsVariant(t *testing.T) {
	t.Parallel()
	f := fragments{}
	every := f.of("InputProperty", 3)
	query := `query($id: ID!) { moduleVersion(id: $id) { inputs { ...` + every + ` } } }` + "\n" + f.text()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		var version string
		publish := func(n int, of string) {
			inputs := strictjson.Node{Kind: strictjson.Array}
			for i := range n {
				inputs.Items = append(inputs.Items, node(t, fmt.Sprintf(`{"id":"i%d","label":"I",%s}`, i, of)))
			}
			v, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
				DefinitionID: p.Definition.ID, Version: fmt.Sprintf("9.%d.0", n), Kind: module.DeploymentTypeECS, Inputs: &inputs,
			})
			if err != nil {
				t.Fatal(err)
			}
			version = v.ID
		}
		ask := func(query string) worldtest.Response {
			return w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query, map[string]any{"id": version})
		}
		publish(150, `"type":"string"`) // a form of so many is read at once
		if r := ask(query); r.At(t, "errors") != nil {
			t.Errorf("%.500s", r.Body)
		}
		publish(6, `"type":"string","values":["a","b"]`)
		for query, want := range map[string]string{
			`{ __typename }`:                    "15", // 1 + 1 + 6 * (1 + 0.1), and 6.2 for 44 values of 24 bytes that are decoded
			`{ ... on StringProperty { id } }`:  "15",
			`{ ... on SectionProperty { id } }`: "15",
			`{ ... on StringProperty { id } ... on ObjectMapProperty { itemInputs { __typename } } }`:                 "15",
			`{ ... on StringProperty { values { ... on StaticValues { options { value } } } } }`:                      "99", // 2 + 6 * (1 + 1 + 1 + 2 * (1 + 5))
			`{ ... on StringProperty { values { ... on DynamicValuesRef { source params } } patterns { message } } }`: "27",
		} {
			if r := ask(`query($id: ID!) { moduleVersion(id: $id) { inputs ` + query + ` } }`); used(t, r) != want {
				t.Errorf("%s: %s, want %s", query, used(t, r), want)
			}
		}
		publish(5, `"type":"string"`)
		absent := ask(`query($id: ID!) { moduleVersion(id: $id) { inputs { ... on StringProperty { values { ... on StaticValues { options { value } } } } } } }`)
		if used(t, absent) != "15" { // 2 + 5 * (1 + 1), and 3 for 21 values
			t.Errorf("of what is not there: %s", used(t, absent))
		}
	})
}

func TestWhatAnOperationDidNotCostIsGivenBack(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		w.Fixture(t, w.Acme, "web")
		small := w.Serving(t, func(c *server.Config) { c.Bucket = quota.Bucket{Capacity: 120, PerSecond: 1} })
		for range 3 { // each for 112, of which 108 come back
			r := small.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ moduleInstances(first: 100) { nodes { id } } }`, nil)
			if r.Status != 200 || r.At(t, "errors") != nil || used(t, r) != "4" {
				t.Fatalf("%s", r.Body)
			}
		}
	})
}

// values asks what values are worth, under aliases.
const values = `query($i: [InputPropertyInput!], $v: JSON!) {%s }`

func TestWorkBehindAFieldIsCounted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		viewer := w.Acme.Tokens[actor.Viewer]
		input := func(text string) []any { return []any{map[string]any{"json": json.RawMessage(text)}} }
		const (
			validate = `validateInputs(input: {inputs: $i, values: $v}) { valid violations { rule } }`
			resolve  = `resolveInputs(input: {inputs: $i, values: $v}) { items { title description } }`
			nested   = `{"id":"a","label":"A","type":"object_array","default":[%s{}],"item_inputs":[%s]}`
			text     = `{"id":"x","label":"X","type":"string"%s}`
		)
		many := strings.Repeat("{},", 99)
		items := fmt.Sprintf(nested, "", fmt.Sprintf(text, ""))
		for name, c := range map[string]struct {
			inputs, values, query string
			code                  fault.Code
		}{
			"one variable under many aliases": {items, `{"a":["` + strings.Repeat("x", 100_000) + `"]}`, aliases(30, validate), fault.DocumentLimitExceeded},
			"items of items of items":         {fmt.Sprintf(nested, many, fmt.Sprintf(nested, many, fmt.Sprintf(nested, many, fmt.Sprintf(text, "")))), `{}`, validate, fault.DocumentLimitExceeded},
			"a long default in each item":     {fmt.Sprintf(nested, "", fmt.Sprintf(text, `,"default":"`+strings.Repeat("d", 9000)+`"`)), `{"a":[` + many + many + many + `{}]}`, validate, fault.DocumentLimitExceeded},
			"a key of many parts": {`{"id":"m","label":"M","type":"object_map","item_inputs":[` + fmt.Sprintf(text, "") + `],"key":{"from_fields":["x"` + strings.Repeat(`,"x"`, 999) + `]}}`,
				`{"m":{"k":{"x":"` + strings.Repeat("k", 9000) + `"}}}`, validate, fault.DocumentLimitExceeded},
			"titles": {`{"id":"a","label":"A","type":"object_array","item_description":"` + strings.Repeat("{x}", 1000) + `","item_inputs":[` + fmt.Sprintf(text, "") + `]}`,
				`{"a":[` + strings.Repeat(`{"x":"`+strings.Repeat("t", 1000)+`"},`, 49) + `{}]}`, resolve, fault.RequestAnswerTooLarge},
			"long names of many levels": {`{"id":"a","label":"A","type":"object_array","item_inputs":[{"id":"` + strings.Repeat("n", 20_000) + `","label":"N","type":"text"}]}`,
				`{"a":[` + strings.Repeat("{},", 999) + `{}]}`, `resolveInputs(input: {inputs: $i, values: $v}) { levels { visible } }`, fault.RequestAnswerTooLarge},
		} {
			r := w.GraphQL(t, viewer, fmt.Sprintf(values, c.query), map[string]any{"i": input(c.inputs), "v": json.RawMessage(c.values)})
			if r.Code(t) != string(c.code) || len(r.Body) > 64<<10 {
				t.Errorf("%s: %.500s", name, r.Body)
			}
			if m := metadata(t, r); m["path"] == nil {
				t.Errorf("%s: no path: %.500s", name, r.Body)
			}
		}
	})
}

func TestAfterASlowPatternAnOperationTriesNoOther(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		hangs := json.RawMessage(`{"id":"a","label":"A","type":"string","patterns":[{"pattern":"^(a+)+$","message":"m"}]}`)
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(values, aliases(20, `validateInputs(input: {inputs: $i, values: $v}) { violations { message } }`)),
			map[string]any{"i": []any{map[string]any{"json": hangs}}, "v": map[string]any{"a": strings.Repeat("a", 60) + "b"}})
		if tried := strings.Count(string(r.Body), "found one that takes too long"); tried != 1 {
			t.Errorf("%d patterns were tried to their end: %.600s", tried, r.Body)
		}
		if left := strings.Count(string(r.Body), "for another took too long"); left != 19 {
			t.Errorf("%d were left out", left)
		}
	})
}
