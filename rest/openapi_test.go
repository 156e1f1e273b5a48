package rest_test

import (
	"bytes"
	"maps"
	"math"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
	"slipway/internal/pure/inputprop"
	"slipway/internal/test/worldtest"
	"slipway/rest"
)

func TestTheDocumentIsValidAndServed(t *testing.T) {
	t.Parallel()
	document := theContract(t).document
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if document.OpenAPI != "3.1.0" || document.Info.Version != "0.0.0" {
		t.Errorf("it is OpenAPI %s of version %s", document.OpenAPI, document.Info.Version)
	}
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	w := worldtest.New(t, worldtest.SQLite(t))
	served := w.REST(t, http.MethodGet, "/openapi.json", "", "", nil)
	if served.Status != http.StatusOK || !bytes.Equal(served.Body, text) || served.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("served with %d and %v", served.Status, served.Header)
	}
	again := w.REST(t, http.MethodGet, "/openapi.json", "", "", map[string]string{"If-None-Match": served.Header.Get("ETag")})
	if again.Status != http.StatusNotModified {
		t.Errorf("asked for again by its ETag it is served with %d", again.Status)
	}
}

func TestEveryRouteIsInTheDocumentsAndIsTried(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	router := chi.NewRouter()
	rest.Surface{}.Routes(router, nil, nil, nil)
	var served, declared []string
	err = chi.Walk(router, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		served = append(served, method+" "+route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range theContract(t).document.Paths.Map() {
		for method, o := range item.Operations() {
			declared = append(declared, method+" "+path)
			if _, tried := requests[o.OperationID]; !tried {
				t.Errorf("there is no request of %s", o.OperationID)
			}
			if goldens, _ := filepath.Glob("testdata/" + o.OperationID + "/2*.http"); len(goldens) == 0 {
				t.Errorf("testdata has no success of %s", o.OperationID)
			}
		}
	}
	slices.Sort(served)
	slices.Sort(declared)
	if !slices.Equal(served, declared) {
		t.Errorf("the server has %v, openapi.json %v", served, declared)
	}
	for _, route := range served {
		if !strings.Contains(string(guide), "| `"+route+"` |") {
			t.Errorf("docs/rest.md does not list %s", route)
		}
	}
}

func TestTheDocumentHasEveryStatus(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"updateDefaultValueDefinition": "200 400 401 403 404 422 500",
		"listModuleDefinitions":        "200 400 401 403 429 500",
		"getDeployment":                "200 304 400 401 403 404 500",
		"rollbackDeployment":           "201 400 401 403 404 409 422 500",
		"redeployDeployment":           "201 400 401 403 404 409 422 500",
		"receiveEcsEvent":              "202 400 401 403 404 500",
	}
	document := theContract(t).document
	got := map[string]string{}
	for _, item := range document.Paths.Map() {
		for _, o := range item.Operations() {
			statuses := slices.Sorted(maps.Keys(o.Responses.Map()))
			got[o.OperationID] = strings.Join(statuses, " ")
		}
	}
	for operation, own := range want {
		statuses := append(strings.Fields(own), "405", "406", "412", "413", "415", "421", "429", "503")
		slices.Sort(statuses)
		want[operation] = strings.Join(slices.Compact(statuses), " ")
	}
	if !maps.Equal(got, want) {
		t.Errorf("the statuses are %v, want %v", got, want)
	}
	list := document.Paths.Value("/module-definitions").Get
	if security := *list.Security; len(security) != 2 || len(security[0]) != 0 || security[1]["bearer"] == nil {
		t.Errorf("the list's security is %v", security)
	}
}

// Generators number what has no name, and take what a discriminator maps to for whole values.
func TestTheDocumentIsOneThatGeneratorsRead(t *testing.T) {
	t.Parallel()
	for name, schema := range theContract(t).document.Components.Schemas {
		s := schema.Value
		for i, member := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
			if member.Ref == "" {
				t.Errorf("member %d of %s has no name", i, name)
			}
		}
		for property, of := range s.Properties {
			if of.Ref == "" && (len(of.Value.Properties) > 0 || len(of.Value.OneOf) > 0 || of.Value.Format == "int32") {
				t.Errorf("%s of %s has no name", property, name)
			}
			if of.Ref == "" && of.Value.Default != nil {
				t.Errorf("%s of %s has a default of its own, so that generators demand it", property, name)
			}
		}
		if s.Discriminator == nil {
			continue
		}
		for value, target := range s.Discriminator.Mapping {
			member := theContract(t).document.Components.Schemas[path.Base(target.Ref)]
			if got := member.Value.Properties[s.Discriminator.PropertyName].Value.Const; got != value {
				t.Errorf("%s maps %s to %s, which has %v", name, value, target.Ref, got)
			}
		}
		if len(s.Discriminator.Mapping) != len(s.OneOf) {
			t.Errorf("%s maps %d values to %d members", name, len(s.Discriminator.Mapping), len(s.OneOf))
		}
	}
	number := theContract(t).document.Components.Schemas["Int32"].Value
	if *number.Min != math.MinInt32 || *number.Max != math.MaxInt32 {
		t.Errorf("numbers are from %v to %v", *number.Min, *number.Max)
	}
}

// structs are what the server reads or writes by a struct, by the schemas of the contract.
var structs = map[string]any{
	"UserFacingErrorData":    fault.Data{},
	"UserFacingErrorAction":  fault.Action{},
	"UserFacingErrorSection": fault.Section{},

	"EcsDeploymentData":      ecs.Data{},
	"AcceptedPauseControl":   ecs.AcceptedPauseControl{},
	"TaskDefinition":         ecs.TaskDefinition{},
	"ListenerState":          ecs.ListenerState{},
	"ListenerRule":           ecs.ListenerRule{},
	"DeploymentEvent":        event.Event{},
	"ServiceDeploymentState": ecs.ServiceDeploymentState{},
	"ServiceRevision":        ecs.ServiceRevision{},

	"Module.StringInputProperty":      inputprop.StringProperty{},
	"Module.TextInputProperty":        inputprop.TextProperty{},
	"Module.ObjectInputProperty":      inputprop.ObjectProperty{},
	"Module.ObjectMapInputProperty":   inputprop.ObjectMapProperty{},
	"Module.ObjectArrayInputProperty": inputprop.ObjectArrayProperty{},
	"Module.ArrayInputProperty":       inputprop.ArrayProperty{},
	"Module.StringArrayInputProperty": inputprop.StringArrayProperty{},
	"Module.NumberInputProperty":      inputprop.NumberProperty{},
	"Module.BooleanInputProperty":     inputprop.BooleanProperty{},
	"Module.SectionInputProperty":     inputprop.SectionProperty{},
	"Module.CompoundInputProperty":    inputprop.CompoundProperty{},
	"Module.RefInputProperty":         inputprop.ReferenceProperty{},
	"Module.GitRepoInputProperty":     inputprop.GitRepoProperty{},
	"Module.KeyValueInputProperty":    inputprop.KeyValueProperty{},

	"Module.RefFallbackObjectInputProperty":      inputprop.ObjectProperty{},
	"Module.RefFallbackObjectMapInputProperty":   inputprop.ObjectMapProperty{},
	"Module.RefFallbackObjectArrayInputProperty": inputprop.ObjectArrayProperty{},
	"Module.RefFallbackArrayInputProperty":       inputprop.ArrayProperty{},
	"Module.RefFallbackStringArrayInputProperty": inputprop.StringArrayProperty{},
	"Module.RefFallbackNumberInputProperty":      inputprop.NumberProperty{},
	"Module.RefFallbackBooleanInputProperty":     inputprop.BooleanProperty{},
	"Module.RefFallbackCompoundInputProperty":    inputprop.CompoundProperty{},
	"Module.RefFallbackKeyValueInputProperty":    inputprop.KeyValueProperty{},

	"Module.ValidationPattern":               inputprop.ValidationPattern{},
	"Module.DynamicValuesRef":                inputprop.DynamicValuesRef{},
	"Module.MapKeyConfig":                    inputprop.MapKeyConfig{},
	"Module.ObjectCollectionItemTitleConfig": inputprop.ObjectCollectionItemTitleConfig{},
}

// The document's fields are those that the code reads and writes.
func TestTheDocumentHasEveryField(t *testing.T) {
	t.Parallel()
	for schema, v := range structs {
		declared, ok := theContract(t).document.Components.Schemas[schema]
		if !ok {
			t.Errorf("there is no schema %s", schema)
			continue
		}
		want, required := fieldsOf(reflect.TypeOf(v))
		if got := slices.Sorted(maps.Keys(declared.Value.Properties)); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", schema, got, want)
		}
		if got := slices.Sorted(slices.Values(declared.Value.Required)); !slices.Equal(got, required) {
			t.Errorf("%s demands %q, want %q", schema, got, required)
		}
		if closed := declared.Value.AdditionalProperties.Has; closed == nil || *closed {
			t.Errorf("%s is open", schema)
		}
	}
}

// tried are the schemas whose properties other tests hold to the code.
var tried = []string{"Deployment", "EcsEventDetail", "Module.CompoundValueItem", "Module.DynamicValuesInput"}

// A property that no struct has and no exchange shows may be one that the server does not know.
func TestEveryPropertyOfTheDocumentIsInAStructOrAnExchange(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.http")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	var exchanges strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		exchanges.Write(text)
	}

	for name, schema := range theContract(t).document.Components.Schemas {
		if structs[name] != nil || slices.Contains(tried, name) {
			continue
		}
		for property := range schema.Value.Properties {
			if !strings.Contains(exchanges.String(), `"`+property+`":`) {
				t.Errorf("no exchange has the property %s of %s", property, name)
			}
		}
	}
}

// fieldsOf returns the JSON names of a struct's fields, and of those that are never left out.
func fieldsOf(s reflect.Type) (names, required []string) {
	for _, f := range reflect.VisibleFields(s) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		names = append(names, name)
		if options == "" {
			required = append(required, name)
		}
	}
	slices.Sort(names)
	slices.Sort(required)
	return names, required
}

// Schemas that the server takes and those that it refuses are told apart by the document too.
func TestTheDocumentAndTheServerAgreeOnSchemas(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	definition := define(t, w, w.Acme)
	declared := theContract(t).document.Components.Schemas["Module.InputProperty"].Value
	for schema, want := range map[string]int{
		`{"id":"a","label":"A","type":"string","default":"$values:first","values":["x",{"value":"y","label":"Y"}],"min_current_value":true,"no_options_message":"-","patterns":[{"pattern":"^[xy]","message":"m"}],"placeholder":"p","required":true,"collapsible":true,"immutable":true,"description":"d","show_when":{"b":{"not":1}}}`: 200,
		`{"id":"a","label":"A","type":"string","values":{"source":"environments","params":{"projectId":"y"}}}`: 200,
		`{"id":"a","label":"A","type":"text","default":"x"}`:                                                   200,
		`{"id":"a","label":"A","type":"object","default":{"x":[1]}}`:                                           200,
		`{"id":"a","label":"A","type":"object_map","item_inputs":[{"id":"b","label":"B","type":"string"}],"default":{},"item_label":"i","item_title":{"template":"{key}","fallback":"f"},"key":{"from_fields":["b",null],"separator":"+","patterns":[]}}`: 200,
		`{"id":"a","label":"A","type":"object_array","item_inputs":[{"id":"b","label":"B","type":"text"}],"default":[{"b":"x"}],"item_description":"{b}"}`:                                                                                                200,
		`{"id":"a","label":"A","type":"array","default":[1,"x",null]}`:                                                                 200,
		`{"id":"a","label":"A","type":"string_array","default":["x"],"add_button_label":"+"}`:                                          200,
		`{"id":"a","label":"A","type":"number","default":"$values:first","values":[1,{"value":2}],"min":-2147483648,"max":2147483647}`: 200,
		`{"id":"a","label":"A","type":"boolean","default":true}`:                                                                       200,
		`{"id":"a","label":"A","type":"section"}`:                                                                                      200,
		`{"id":"a","label":"A","type":"compound","fields":["x"],"values":[{"label":"l","fields":{"x":1,"y":true}}],"default":{"x":1}}`: 200,
		`{"id":"a","label":"A","type":"$ref:aws/vpc","mapped_inputs":[{"id":"c","label":"C","type":"number","default":"${{ ref.input.c }}"},{"id":"o","label":"O","type":"object_map","item_inputs":[{"id":"b","label":"B","type":"boolean","default":"${{ ref.stack.output.b }}"}]}]}`: 200,
		`{"id":"a","label":"A","type":"gitrepo","default":"https://git.example/a/b"}`: 200,
		`{"id":"a","label":"A","type":"keyvalue","default":{"k":"v"}}`:                200,

		`{"id":"a","label":"A","type":"section","immutable":true}`:                                        400,
		`{"id":"a","label":"A","type":"text","values":["x"]}`:                                             400,
		`{"id":"a","label":"A","type":"text","default":"$values:first","x":1}`:                            400,
		`{"id":"a","label":"A","type":"number","default":"x"}`:                                            400,
		`{"id":"a","label":"A","type":"number","default":2147483648}`:                                     400,
		`{"id":"a","label":"A","type":"number","default":"${{ ref.input.c }}"}`:                           400,
		`{"id":"a","label":"A","type":"boolean"}`:                                                         400,
		`{"id":"a","label":"A","type":"object_map","item_inputs":[]}`:                                     400,
		`{"id":"a","label":"A","type":"compound","fields":["x"]}`:                                         400,
		`{"id":"a","label":"A","type":"$ref:"}`:                                                           400,
		`{"id":"a","label":"A","type":"$ref:a b"}`:                                                        400,
		`{"id":"a","label":"A","type":"$ref:a","mapped_inputs":[{"id":"b","label":"B","type":"$ref:c"}]}`: 400,
		`{"id":"a","label":"A","type":"dropdown"}`:                                                        400,
		`{"id":"","label":"A","type":"text"}`:                                                             400,
		`{"id":"a","label":"A","type":"text","description":null}`:                                         400,
		`{"id":"a","label":"A","type":"string","patterns":[{"pattern":"x"}]}`:                             400,
		`{"id":"a","label":"A","type":"string","values":[1]}`:                                             400,
		`{"id":"a","label":"A","type":"keyvalue","default":{"k":1}}`:                                      400,
	} {
		body := `{"data":{"schema":` + schema + `}}`
		got := ask(t, w, exchange{http.MethodPatch, "/default-value-definitions/" + definition.ID, w.Acme.Tokens[actor.Admin], body, nil})
		if got.Status != want {
			t.Errorf("the server answers %s with %d, want %d: %s", schema, got.Status, want, got.Body)
		}
		if err := declared.VisitJSON(decoded(t, schema), openapi3.EnableJSONSchema2020()); (err == nil) != (want == 200) {
			t.Errorf("the document on %s: %v, want %d", schema, err, want)
		}
	}
}
