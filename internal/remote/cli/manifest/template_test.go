package manifest_test

import (
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputprop/inputtest"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
)

const described = `[
	{"id":"queue_name","label":"Name","type":"string","immutable":true,"default":"${{ environment.slug }}-orders"},
	{"id":"s","label":"Limits","type":"section","description":"How much."},
	{"id":"timeout","label":"Hidden for","type":"number","min":0,"max":43200,"description":"Seconds.\nOf each message.","required":true},
	{"id":"size","label":"Size","type":"string","values":["s",{"value":"l","label":"Large"}],"default":"$values:first"},
	{"id":"labels","label":"Labels","type":"keyvalue","default":{"team":"a","on call":"no"}},
	{"id":"rules","label":"Rules","type":"object_array","required":true,"item_inputs":[{"id":"cidr","label":"CIDR","type":"string"}]},
	{"id":"net","label":"Network","type":"$ref:aws/vpc","mapped_inputs":[
		{"id":"vpc_id","label":"VPC","type":"string","default":"${{ ref.stack.output.vpc_id }}"},
		{"id":"zone","label":"Zone","type":"string","default":"a"}]},
	{"id":"secretive","label":"Only then","type":"boolean","default":false,"show_when":{"size":"l"}}
]`

func TestTemplateOfValues(t *testing.T) {
	t.Parallel()
	inputs := inputtest.MustDecodeList(t, described)
	golden(t, "values.yaml", manifest.ValuesTemplate(inputs, nil))
	golden(t, "variants.yaml", manifest.ValuesTemplate(allVariants(t), nil))
	golden(t, "filled.yaml", manifest.ValuesTemplate(inputs, strictjson.MustParse(
		`{"timeout":60,"rules":[{"cidr":"10.0.0.0/8"}],"net":"inst_1","vpc_id":"vpc-1","zone":"b","labels":{"text":"a\nb\n"},"gone":1}`)))
	byHand := string(manifest.ValuesTemplate(inputs, strictjson.MustParse(`{"net":null,"vpc_id":"vpc-1"}`)))
	if !strings.Contains(byHand, "\nvpc_id: vpc-1\n") {
		t.Errorf("what was entered by hand is left out:\n%s", byHand)
	}
}

func TestSchemaOfValues(t *testing.T) {
	t.Parallel()
	golden(t, "values.schema.json", manifest.ValuesSchema(inputtest.MustDecodeList(t, described)))
	golden(t, "variants.schema.json", manifest.ValuesSchema(allVariants(t)))
}

func TestATemplateHasItsValues(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		g := inputtest.NewGenerator(seed)
		inputs := inputtest.MustDecodeList(t, "["+g.Inputs(2)+"]")
		values := strictjson.MustParse(g.Values(2))
		d, err := document.Read("v.yaml", manifest.ValuesTemplate(inputs, values))
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, manifest.ValuesTemplate(inputs, values))
		}
		level := inputprop.NewLevel(inputs)
		for i, id := range values.Keys {
			in, ok := level.ByID[id]
			if !ok || in.Traits.NoValue || in.Owner != nil {
				continue
			}
			if got := d.Root.Get(id); got == nil || string(got.JSON()) != string(values.Items[i].JSON()) {
				t.Fatalf("seed %d: %s is %v, want %s, in\n%s", seed, id, got, values.Items[i].JSON(), manifest.ValuesTemplate(inputs, values))
			}
		}
		empty, err := document.Read("v.yaml", manifest.ValuesTemplate(inputs, nil))
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, manifest.ValuesTemplate(inputs, nil))
		}
		for i, id := range empty.Root.Keys {
			if !level.ByID[id].Traits.Required || empty.Root.Items[i].Kind != strictjson.Null {
				t.Fatalf("seed %d: %s is filled in, in\n%s", seed, id, manifest.ValuesTemplate(inputs, nil))
			}
		}
	}
}

// What a server takes of inputs that are shown fits the schema, so that no editor complains of what is right.
func TestWhatAServerTakesFitsTheSchema(t *testing.T) {
	t.Parallel()
	taken := 0
	engine := inputvalues.NewEngine(inputtest.Patterns{})
	for seed := range uint64(1000) {
		g := inputtest.NewGenerator(seed)
		for _, p := range strictjson.MustParse("[" + g.Inputs(1) + "]").Items {
			inputs := inputtest.MustDecodeList(t, "["+string(withoutConditions(p).JSON())+"]")
			s := parsed(t, manifest.ValuesSchema(inputs))
			for range 4 {
				values := strictjson.MustParse(`{"` + p.GetText("id") + `":` + g.Value(1) + `}`)
				violations, err := engine.Validate(t.Context(), inputs, values, "", inputtest.Env)
				if err != nil {
					t.Fatal(err)
				}
				if len(violations) > 0 {
					continue
				}
				taken++
				if why := s.refuses(s.root, generic(t, values.JSON())); why != "" {
					t.Fatalf("seed %d: %s fits not: %s, by\n%s", seed, values.JSON(), why, manifest.ValuesSchema(inputs))
				}
			}
		}
	}
	if taken < 1000 {
		t.Errorf("only %d were taken", taken)
	}
}

func withoutConditions(n *strictjson.Node) *strictjson.Node {
	plain := &strictjson.Node{Kind: n.Kind, Bool: n.Bool, Text: n.Text}
	for i, item := range n.Items {
		switch {
		case n.Kind == strictjson.Array:
			plain.Items = append(plain.Items, withoutConditions(item))
		case n.Keys[i] != "show_when":
			plain.Append(n.Keys[i], withoutConditions(item))
		}
	}
	return plain
}

func TestTheSchemaRefusesWhatAVariantDoes(t *testing.T) {
	t.Parallel()
	inputs := inputtest.MustDecodeList(t, described)
	s := parsed(t, manifest.ValuesSchema(inputs))
	const good = `{"timeout":60,"rules":[{"cidr":"x"}],"size":"l","labels":{},"net":"./x","secretive":true}`
	if why := s.refuses(s.root, generic(t, []byte(good))); why != "" {
		t.Fatal(why)
	}
	for _, c := range [][2]string{
		{"60", "-1"}, {"60", "43201"}, {"60", "1.5"}, {"60", `"60"`}, {"60", "null"}, {`"timeout":60,`, ""}, {`[{"cidr":"x"}]`, "[]"}, {`[{"cidr":"x"}]`, "{}"}, {`"cidr"`, `"cider"`},
		{`"x"}`, "1}"}, {`"l"`, `"m"`}, {`{},`, `{"a":1},`}, {`"./x"`, `""`}, {"true", "1"}, {"true", "null"}, {`"size"`, `"sise"`}, {`"size"`, `"s"`},
	} {
		text := strings.Replace(good, c[0], c[1], 1)
		if s.refuses(s.root, generic(t, []byte(text))) == "" {
			t.Errorf("it takes %s", text)
		}
	}
}
