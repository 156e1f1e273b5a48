package inputprop_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputprop/inputtest"
)

// variantNames are those by which a variant is known.
type variantNames struct {
	// goType is the name in Go and in GraphQL; short is the one without Property, as the contract of REST has it.
	goType, short string
	// member is the member of GraphQL's one-of input, discriminator the type in the JSON.
	member, discriminator string
}

func namesOfVariants() []variantNames {
	var all []variantNames
	for _, p := range inputprop.Variants() {
		goType := reflect.TypeOf(p).Elem().Name()
		short := strings.TrimSuffix(goType, "Property")
		n := variantNames{goType: goType, short: short, discriminator: p.Head().Type}
		n.member = strings.ToLower(short[:1]) + short[1:]
		if short == "Reference" {
			n.short = "Ref"
		}
		all = append(all, n)
	}
	return all
}

// TestEveryVariantIsInEveryList names the lists that neither the compiler nor another test looks after.
func TestEveryVariantIsInEveryList(t *testing.T) {
	t.Parallel()
	for file, lines := range map[string][]string{
		"schema.graphql":    {"  | %type\n", "type %type implements", "  %member: %typeInput\n", "input %typeInput {"},
		"gqlgen.yml":        {"  %type:\n    model: slipway/internal/pure/inputprop.%type\n", "\n  %typeInput: {"},
		"rest/openapi.json": {`"Module.%shortInputProperty": {`, `{"$ref": "#/components/schemas/Module.%shortInputProperty"}`},
		"docs/inputs.md":    {"| `%type` | `%member` |"},

		"docs/frontend.md":                               {`"%type": "String"`},
		"conformance/relay/relay.config.json":            {`"%type": "String"`},
		"conformance/codegen/program.ts":                 {"%member: {", "case '%type':"},
		"conformance/rest-typescript/variants.ts":        {"type: '%discriminator"},
		"conformance/rest-oapi-codegen/variants_test.go": {"FromModule%shortInputProperty,"},
	} {
		text, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range namesOfVariants() {
			names := strings.NewReplacer("%type", n.goType, "%short", n.short, "%member", n.member, "%discriminator", n.discriminator)
			for _, line := range lines {
				if want := names.Replace(line); !strings.Contains(string(text), want) {
					t.Errorf("%s has no %q", file, want)
				}
			}
		}
	}
}

// Reference is in neither, for it is a union of its own.
func TestEveryVariantIsInBothUnionsOfTheContract(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../rest/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Components struct {
			Schemas map[string]struct {
				OneOf []struct {
					Ref string `json:"$ref"`
				}
				Discriminator struct{ Mapping map[string]string }
			}
		}
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"Module.PlainInputProperty", "Module.RefFallbackInputProperty"} {
		union := contract.Components.Schemas[name]
		listed := map[string]bool{}
		for _, one := range union.OneOf {
			listed[one.Ref] = true
		}
		for _, n := range namesOfVariants() {
			if n.short == "Ref" {
				continue
			}
			if ref := union.Discriminator.Mapping[n.discriminator]; ref == "" || !listed[ref] {
				t.Errorf("%s has %q for %s, and that is in its list: %t", name, ref, n.discriminator, listed[ref])
			}
		}
	}
}

var sealed = regexp.MustCompile(`(?m)^func \(\*(\w+)\) sealed\(\)`)

func TestEveryVariantIsRegistered(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared, registered []string
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range sealed.FindAllStringSubmatch(string(code), -1) {
			declared = append(declared, match[1])
		}
	}
	for _, n := range namesOfVariants() {
		registered = append(registered, n.goType)
	}
	slices.Sort(declared)
	slices.Sort(registered)
	if !slices.Equal(declared, registered) {
		t.Errorf("the variants are %v, but %v are registered", declared, registered)
	}
}

func TestTheGeneratorWritesEveryVariant(t *testing.T) {
	t.Parallel()
	written := map[string]bool{}
	for seed := range uint64(200) {
		for _, p := range mustDecodeList(t, "["+inputtest.NewGenerator(seed).Inputs(1)+"]") {
			written[reflect.TypeOf(p).Elem().Name()] = true
		}
	}
	for _, n := range namesOfVariants() {
		if !written[n.goType] {
			t.Errorf("the generator writes no %s", n.goType)
		}
	}
}
