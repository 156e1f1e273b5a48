package attacktest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
)

// What there is of each kind of large record.
const (
	leaves     = 12_000
	largeCount = 20
	longCount  = 60
)

// stock are the ids of large records that attacks ask for.
type stock struct {
	module, environment string
	// idle is an instance without a deployment.
	idle string
	// plain is a version with an object and a text, wide one of 200 KB with 500 inputs, and templated one with
	// a long name in many defaults.
	plain, wide, templated string
	// left and right are deployments whose releases have leaves that all differ; blob and clob differ in 40
	// long texts.
	left, right, blob, clob string
	// large are deployments with inputs of 200 KB.
	large []string
	// referring has as many references as its inputs may have.
	referring string
	// eventful has hundreds of long events.
	eventful string
	// definition has a schema of 200 KB.
	definition string
	tiny       tiny
	ruled      ruled
}

type object = map[string]any

// long is a description as long as one may be, in characters of four bytes.
var long = strings.Repeat("\U0001F6A2", 10_000)

// bulk is an object of 200 KB, each of its texts as long as one may be.
func bulk(letter string) object {
	text := strings.Repeat(letter, 10_000)
	all := object{}
	for i := range 20 {
		all[fmt.Sprint(letter, i)] = text
	}
	return all
}

// fill makes a deployment that nobody carries out, and where it is wanted the stock.
func (s *server) fill(t *testing.T, stocked bool) {
	t.Helper()
	c, close := newCaller(s, 0)
	defer close()
	f := filler{t, c}
	f.places()
	s.deployment = f.deploy("watched", s.stock.plain, object{"inputs": object{}})
	if stocked {
		f.releases()
		f.definitions()
		s.stock.eventful = f.report()
	}
}

// mostTries is how often a record is tried that the server has no time for: some give a request little, and
// share the processors with other tests.
const mostTries = 50

// filler makes records as the admin.
type filler struct {
	t *testing.T
	c *caller
}

func (f filler) places() {
	f.t.Helper()
	s := &f.c.stock
	project := f.make("createProject", "project", object{"name": strings.Repeat("n", 200), "slug": "attack"})
	s.environment = f.make("createEnvironment", "environment", object{"projectId": project, "name": "E", "slug": "attack"})
	s.module = f.make("createModuleDefinition", "moduleDefinition", object{"name": "M", "type": "attack", "status": "ACTIVE"})
	s.plain = f.version("1.0.0", `[{"id":"o","label":"L","type":"object"},{"id":"t","label":"L","type":"text"}]`)
}

func (f filler) releases() {
	f.t.Helper()
	s := &f.c.stock
	s.wide = f.version("2.0.0", list(500, `{"id":"i%d","label":"L","type":"string","placeholder":"`+strings.Repeat("p", 350)+`"}`))
	s.templated = f.version("3.0.0", list(250, `{"id":"i%d","label":"L","type":"text","default":"`+strings.Repeat("${{ project.name }}", 9)+`"}`))
	s.idle = f.instance("idle")
	referring := f.version("4.0.0", `[{"id":"m","label":"L","type":"object_map","item_inputs":[{"id":"r","label":"L","type":"$ref:attack"}]}]`)
	s.referring = f.deploy("referring", referring, object{"inputs": raw(`{"m":{` + members(1_000, `"%d":{"r":"`+s.idle+`"}`) + `}}`)})
	s.left = f.deploy("left", s.plain, object{"inputs": raw(`{"o":{` + members(leaves, `"k%d":1`) + `}}`)})
	s.right = f.deploy("right", s.plain, object{"inputs": raw(`{"o":{` + members(leaves, `"k%d":2`) + `}}`)})
	s.blob = f.deploy("blob", s.plain, object{"inputs": object{"o": bulk("x")}})
	s.clob = f.deploy("clob", s.plain, object{"inputs": object{"o": bulk("y")}})
	for i := range largeCount {
		id := f.deploy(fmt.Sprint("large-", i), s.plain, object{"inputs": object{"o": bulk(fmt.Sprint(i % 10))}})
		s.large = append(s.large, id)
	}
}

func (f filler) definitions() {
	f.t.Helper()
	for i := range largeCount {
		f.c.stock.definition = f.make("createDefaultValueDefinition", "defaultValueDefinition", object{
			"givenId": fmt.Sprint("large-", i), "name": "N", "description": long,
			"schema": object{"json": raw(`{"id":"a","label":"L","type":"string","values":` +
				list(500, `{"value":"v%d","description":"`+strings.Repeat("d", 350)+`"}`) + `}`)},
		})
	}
	for i := range longCount {
		f.make("createModuleDefinition", "moduleDefinition", object{
			"name": "N", "type": fmt.Sprint("long-", i), "status": "ACTIVE", "description": long,
		})
	}
}

// make calls a mutation and returns the id of the record that its payload has.
func (f filler) make(mutation, kind string, input object) string {
	f.t.Helper()
	var made struct{ ID string }
	f.call(f.c, mutation, kind+" { id }", kind, input, &made)
	return made.ID
}

func (f filler) call(c *caller, mutation, selection, member string, input object, into any) {
	f.t.Helper()
	name := strings.ToUpper(mutation[:1]) + mutation[1:]
	body, err := operation(fmt.Sprintf("mutation($i: %sInput!) { m: %s(input: $i) { %s } }", name, mutation, selection), object{"i": input})
	if err != nil {
		f.t.Fatal(err)
	}
	status, answer, err := c.exchange(f.t.Context(), request{body: bytes.NewReader(body)})
	for tries := 1; err == nil && bytes.Contains(answer, []byte(fault.RequestTimeout)) && tries < mostTries; tries++ {
		status, answer, err = c.exchange(f.t.Context(), request{body: bytes.NewReader(body)})
	}
	var made struct {
		Data struct{ M map[string]json.RawMessage }
	}
	if err == nil {
		err = json.Unmarshal(answer, &made)
	}
	if err == nil {
		err = json.Unmarshal(made.Data.M[member], into)
	}
	if err != nil {
		f.t.Fatalf("%s: %d %.1000s, %v", mutation, status, answer, err)
	}
}

func (f filler) version(number, inputs string) string {
	f.t.Helper()
	return f.make("publishModuleVersion", "moduleVersion", object{
		"moduleDefinitionId": f.c.stock.module, "version": number, "deploymentType": "terraform", "inputs": wrapped(inputs),
	})
}

// deploy creates an instance and a deployment of it.
func (f filler) deploy(name, version string, more object) string {
	f.t.Helper()
	more["moduleVersionId"] = version
	more["moduleInstanceId"] = f.instance(name)
	more["idempotencyKey"] = name // one that took too long is asked for again
	return f.make("createDeployment", "deployment", more)
}

func (f filler) instance(name string) string {
	f.t.Helper()
	return f.make("createModuleInstance", "moduleInstance", object{
		"environmentId": f.c.stock.environment, "moduleDefinitionId": f.c.stock.module, "name": name,
	})
}

// report claims a deployment as the runner and reports as many events as may be kept.
func (f filler) report() string {
	f.t.Helper()
	runner := f.c.as(actor.Runner)
	const lease = "attack-lease"
	var claimed struct{ ID string }
	f.call(runner, "claimDeployment", "deployment { id }", "deployment", object{"deploymentTypes": []string{"terraform"}, "leaseId": lease}, &claimed)
	event := object{"message": strings.Repeat("m", 4000), "lifecycleStage": "s"}
	events := make([]object, 50)
	for i := range events {
		events[i] = event
	}
	for range 6 {
		f.call(runner, "reportDeployment", "deployment { id }", "deployment", object{"id": claimed.ID, "leaseId": lease, "events": events}, &claimed)
	}
	return claimed.ID
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// members returns the format n times with the number, with commas between them, and list in brackets.
func members(n int, format string) string { return strings.TrimSuffix(each(n, format+","), ",") }
func list(n int, format string) string    { return "[" + members(n, format) + "]" }

// wrapped are inputs that are written as the spec's JSON, as variables take them.
func wrapped(inputs string) []object {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(inputs), &list); err != nil {
		panic(err) // the attack is written wrong
	}
	all := make([]object, len(list))
	for i, one := range list {
		all[i] = object{"json": one}
	}
	return all
}
