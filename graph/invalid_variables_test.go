package graph_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// The documents that variables are sent to.
const (
	pageQuery       = `query($v: Int) { projects(first: $v) { totalCount } }`
	pageOfFiveQuery = `query($v: Int = 5) { projects(first: $v) { totalCount } }`
	searchQuery     = `query($v: String) { moduleDefinitions(filter: {search: $v}) { totalCount } }`
	statusQuery     = `query($v: ModuleDefinitionStatus) { moduleDefinitions(filter: {status: $v}) { totalCount } }`
	skipQuery       = `query($v: Boolean!) { viewer @skip(if: $v) { role } }`
	skippableQuery  = `query($v: Boolean = false) { viewer @skip(if: $v) { role } }`
	oneQuery        = `query($v: ID!) { project(id: $v) { id } }`
	manyQuery       = `query($v: [ID!]!) { nodes(ids: $v) { id } }`
	sinceQuery      = `query($v: UtcDateTime) { deployments(filter: {createdFrom: $v}) { totalCount } }`
	givenIDQuery    = `query($v: GivenId) { defaultValueDefinitions(filter: {givenId: $v}) { totalCount } }`
	filterQuery     = `query($v: DeploymentFilter) { deployments(filter: $v) { totalCount } }`
	createMutation  = `mutation($v: CreateProjectInput!) { createProject(input: $v) { project { slug } } }`
	propertyQuery   = `query($v: InputPropertyInput!) { validateInputs(input: {inputs: [$v], values: {}}) { valid } }`
	twiceMutation   = `mutation($v: GivenId!) { a: createProject(input: {name: "a", slug: "a"}) { project { id } } b: createProject(input: {name: "b", slug: $v}) { project { id } } }`
	deepQuery       = `query($v: JSON!) { validateInputs(input: {inputs: [], values: {a: [{b: $v}]}}) { valid } }`
	valuesQuery     = `query($v: JSON!) { validateInputs(input: {inputs: [], values: $v}) { valid } }`
)

const (
	variablesInvalid = "slipway:Document:VARIABLES_INVALID"
	requestMalformed = "slipway:Request:MALFORMED"

	notAnInt    = `Variable "$v" must be Int, a whole number from -2147483648 to 2147483647, found `
	notAnID     = `must be an ID, a string or a whole number, found `
	notAStatus  = `Variable "$v" must be a value of ModuleDefinitionStatus, found `
	notADate    = `must be a UtcDateTime, an RFC 3339 time in UTC such as 2026-03-01T09:30:00Z, found `
	notAGivenID = `must be a GivenId, 1 to 60 letters, digits, underscores and hyphens, the first a letter or digit, found `
	notOneField = `must have exactly one field of InputPropertyInput, found `
)

// TestWrongVariablesAreRefused sends each value as $v, or nothing for it, and looks at the first error.
func TestWrongVariablesAreRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	before := w.Rows(t)
	for _, c := range []struct{ document, value, code, path, message string }{
		{pageQuery, `"1"`, variablesInvalid, "variable v", notAnInt + "a string."},
		{pageQuery, `1.5`, variablesInvalid, "variable v", notAnInt + "the number 1.5."},
		{pageQuery, `2147483648`, variablesInvalid, "variable v", notAnInt + "the number 2147483648."},
		{pageQuery, `-2147483649`, variablesInvalid, "variable v", notAnInt + "the number -2147483649."},
		{pageQuery, `1e10`, variablesInvalid, "variable v", notAnInt + "the number 1e10."},
		{pageQuery, `true`, variablesInvalid, "variable v", notAnInt + "true."},
		{pageQuery, `[1]`, variablesInvalid, "variable v", notAnInt + "a list."},
		{pageQuery, `{}`, variablesInvalid, "variable v", notAnInt + "an object."},
		{searchQuery, `5`, variablesInvalid, "variable v", `Variable "$v" must be a String, found the number 5.`},
		{searchQuery, `true`, variablesInvalid, "variable v", `Variable "$v" must be a String, found true.`},
		{searchQuery, `["a"]`, variablesInvalid, "variable v", `Variable "$v" must be a String, found a list.`},
		{searchQuery, `"\ud800"`, requestMalformed, "", `The request /variables/v lone surrogate \ud800 in a string …`},
		{statusQuery, `"active"`, variablesInvalid, "variable v", notAStatus + `"active"; the values are DRAFT, ACTIVE.`},
		{statusQuery, `"RETIRED"`, variablesInvalid, "variable v", notAStatus + `"RETIRED"; the values are DRAFT, ACTIVE.`},
		{statusQuery, `1`, variablesInvalid, "variable v", notAStatus + `the number 1; the values are DRAFT, ACTIVE.`},
		{statusQuery, `["ACTIVE"]`, variablesInvalid, "variable v", notAStatus + `a list; the values are DRAFT, ACTIVE.`},
		{skipQuery, `"true"`, variablesInvalid, "variable v", `Variable "$v" must be a Boolean, found a string.`},
		{skipQuery, `1`, variablesInvalid, "variable v", `Variable "$v" must be a Boolean, found the number 1.`},
		{skipQuery, `null`, variablesInvalid, "variable v", `Variable "$v" must be Boolean!, found null.`},
		{skipQuery, ``, variablesInvalid, "variable v", `Variable "$v" must be given, as Boolean!.`},
		{skippableQuery, `null`, variablesInvalid, "variable v", `Variable "$v" must not be null, for it is used where Boolean! is expected.`},
		{oneQuery, `1.5`, variablesInvalid, "variable v", `Variable "$v" ` + notAnID + `the number 1.5.`},
		{oneQuery, `1.0`, variablesInvalid, "variable v", `Variable "$v" ` + notAnID + `the number 1.0.`},
		{oneQuery, `true`, variablesInvalid, "variable v", `Variable "$v" ` + notAnID + `true.`},
		{oneQuery, `{"id": 1}`, variablesInvalid, "variable v", `Variable "$v" ` + notAnID + `an object.`},
		{oneQuery, `null`, variablesInvalid, "variable v", `Variable "$v" must be ID!, found null.`},
		{oneQuery, ``, variablesInvalid, "variable v", `Variable "$v" must be given, as ID!.`},
		{manyQuery, `null`, variablesInvalid, "variable v", `Variable "$v" must be [ID!]!, found null.`},
		{manyQuery, `["a", null]`, variablesInvalid, "variable v 1", `Variable "$v[1]" must be ID!, found null.`},
		{manyQuery, `["a", 1.5]`, variablesInvalid, "variable v 1", `Variable "$v[1]" ` + notAnID + `the number 1.5.`},
		{manyQuery, `[["a"]]`, variablesInvalid, "variable v 0", `Variable "$v[0]" ` + notAnID + `a list.`},
		{manyQuery, `{}`, variablesInvalid, "variable v", `Variable "$v" ` + notAnID + `an object.`},
		{filterQuery, `"x"`, variablesInvalid, "variable v", `Variable "$v" must be an object of DeploymentFilter, found a string.`},
		{filterQuery, `[]`, variablesInvalid, "variable v", `Variable "$v" must be an object of DeploymentFilter, found a list.`},
		{filterQuery, `{"state": "FAILED"}`, variablesInvalid, "variable v state", `Variable "$v.state" is not a field of DeploymentFilter; the fields are …`},
		{filterQuery, `{"statuses": ["failed"]}`, variablesInvalid, "variable v statuses 0", `Variable "$v.statuses[0]" must be a value of DeploymentStatus, found "failed"; the values are …`},
		{createMutation, ``, variablesInvalid, "variable v", `Variable "$v" must be given, as CreateProjectInput!.`},
		{createMutation, `{}`, variablesInvalid, "variable v name", `Variable "$v.name" must be given, as String!.`},
		{createMutation, `{"name": "n"}`, variablesInvalid, "variable v slug", `Variable "$v.slug" must be given, as GivenId!.`},
		{createMutation, `{"name": null, "slug": "n"}`, variablesInvalid, "variable v name", `Variable "$v.name" must be String!, found null.`},
		{createMutation, `{"name": 5, "slug": "n"}`, variablesInvalid, "variable v name", `Variable "$v.name" must be a String, found the number 5.`},
		{createMutation, `{"name": "n", "slug": "n", "Name": "x"}`, variablesInvalid, "variable v Name", `Variable "$v.Name" is not a field of CreateProjectInput; the fields are name, slug.`},
		{createMutation, `[{"name": "n", "slug": "n"}]`, variablesInvalid, "variable v", `Variable "$v" must be an object of CreateProjectInput, found a list.`},
		{createMutation, `{"name": "n", "slug": "n", "name": "n"}`, requestMalformed, "", `The request /variables/v/name duplicate key "name" …`},
		{propertyQuery, `{}`, variablesInvalid, "variable v", `Variable "$v" ` + notOneField + `0; the fields are …`},
		{propertyQuery, `{"string": {"id": "a", "label": "A"}, "json": {}}`, variablesInvalid, "variable v", `Variable "$v" ` + notOneField + `2; the fields are …`},
		{propertyQuery, `{"string": {"id": "a", "label": "A"}, "text": null}`, variablesInvalid, "variable v", `Variable "$v" ` + notOneField + `2; the fields are …`},
		{propertyQuery, `{"string": null}`, variablesInvalid, "variable v string", `Variable "$v.string" must not be null, for it is the one field of InputPropertyInput.`},
		{propertyQuery, `{"string": {"id": "a"}}`, variablesInvalid, "variable v string label", `Variable "$v.string.label" must be given, as String!.`},
		{propertyQuery, `{"number": {"id": "a", "label": "A", "min": 1.5}}`, variablesInvalid, "variable v number min", `Variable "$v.number.min" must be Int, …`},
		{propertyQuery, `{"objectArray": {"id": "a", "label": "A", "itemInputs": [{"json": {}}, {}]}}`, variablesInvalid, "variable v objectArray itemInputs 1", `Variable "$v.objectArray.itemInputs[1]" ` + notOneField + "…"},
		{propertyQuery, `{"__typename": "StringProperty", "string": {"id": "a", "label": "A"}}`, variablesInvalid, "variable v __typename", `Variable "$v.__typename" is not a field of InputPropertyInput; the fields are …`},
		{propertyQuery, `{"string": {"__typename": "StringProperty", "typename": "x", "id": "a", "label": "A"}}`, variablesInvalid, "variable v string typename", `Variable "$v.string.typename" is not a field of StringPropertyInput; the fields are …`},
		{propertyQuery, `{"string": {"id": null, "label": "A"}}`, variablesInvalid, "variable v string id", `Variable "$v.string.id" must be String!, found null.`},
		{createMutation, `{"name": "n", "slug": "n", "__typename": "Project"}`, variablesInvalid, "variable v __typename", `Variable "$v.__typename" is not a field of CreateProjectInput; the fields are …`},
		{valuesQuery, `null`, variablesInvalid, "variable v", `Variable "$v" must be JSON!, found null.`},
		{valuesQuery, `{"a": 1, "a": 2}`, requestMalformed, "", `The request /variables/v/a duplicate key "a" …`},
		{valuesQuery, nested(65), variablesInvalid, "variable v", `Variable "$v" must be a JSON value, but is nested too deep, at most 64 levels are allowed.`},
		{deepQuery, nested(62), variablesInvalid, "variable v", `The value around "$v" must be a JSON value, but is nested too deep, at most 64 levels are allowed.`},
		{valuesQuery, nested(96), requestMalformed, "", `The request /variables/v/…`},
		{sinceQuery, `"yesterday"`, variablesInvalid, "variable v", `Variable "$v" ` + notADate + `"yesterday".`},
		{sinceQuery, `5`, variablesInvalid, "variable v", `Variable "$v" ` + notADate + "a number."},
		{sinceQuery, `["2026-03-01T09:30:00Z"]`, variablesInvalid, "variable v", `Variable "$v" ` + notADate + "a list."},
		{sinceQuery, `"2026-03-01"`, variablesInvalid, "variable v", `Variable "$v" ` + notADate + `"2026-03-01".`},
		{sinceQuery, `"2026-02-30T09:30:00Z"`, variablesInvalid, "variable v", `Variable "$v" ` + notADate + `"2026-02-30T09:30:00Z".`},
		{sinceQuery, `"2026-03-01T09:30:00+01:00"`, variablesInvalid, "variable v", `Variable "$v" ` + notADate + `"2026-03-01T09:30:00+01:00".`},
		{givenIDQuery, `""`, variablesInvalid, "variable v", `Variable "$v" ` + notAGivenID + `"".`},
		{givenIDQuery, `"-a"`, variablesInvalid, "variable v", `Variable "$v" ` + notAGivenID + `"-a".`},
		{givenIDQuery, `5`, variablesInvalid, "variable v", `Variable "$v" ` + notAGivenID + "a number."},
		{givenIDQuery, `{"a": 1}`, variablesInvalid, "variable v", `Variable "$v" ` + notAGivenID + "an object."},
		{givenIDQuery, `true`, variablesInvalid, "variable v", `Variable "$v" ` + notAGivenID + "a boolean."},
		{createMutation, `{"name": "n", "slug": "no slug"}`, variablesInvalid, "variable v slug", `Variable "$v.slug" ` + notAGivenID + `"no slug".`},
		{twiceMutation, `"no slug"`, variablesInvalid, "variable v", `Variable "$v" ` + notAGivenID + `"no slug".`},
	} {
		r := sent(t, w, c.document, variablesOf(c.value))
		message, goesOn := strings.CutSuffix(c.message, "…")
		found := r.Text(t, "errors", 0, "message")
		told := found == message || goesOn && strings.HasPrefix(found, message)
		if !told || r.Code(t) != c.code || pathOf(t, r) != c.path || r.At(t, "data") != nil {
			t.Errorf("%s of %s: want %s at %q: %s\ngot %d %s", c.value, c.document, c.code, c.path, c.message, r.Status, r.Body)
		}
	}
	if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
		t.Errorf("what is refused has changed rows: %s", diff)
	}
}

// variablesOf are variables with a value for v, or without one.
func variablesOf(value string) string {
	if value == "" {
		return "{}"
	}
	return `{"v": ` + value + "}"
}

// nested is JSON of so many levels.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// sent posts a document with variables in their own words.
func sent(t *testing.T, w *worldtest.World, document, variables string) worldtest.Response {
	t.Helper()
	return w.GraphQL(t, w.Acme.Tokens[actor.Admin], document, json.RawMessage(variables))
}

// pathOf is the path of the first error, its steps apart by blanks.
func pathOf(t *testing.T, r worldtest.Response) string {
	t.Helper()
	path, _ := r.At(t, "errors", 0, "path").([]any)
	return strings.Trim(fmt.Sprint(path), "[]")
}

func TestRightVariablesAreTaken(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	for _, c := range []struct{ document, variables, want string }{
		{pageQuery, `{"v": 1}`, `{"projects":{"totalCount":1}}`},
		{pageQuery, `{"v": 1.0}`, `{"projects":{"totalCount":1}}`},
		{pageQuery, `{"v": 1e1}`, `{"projects":{"totalCount":1}}`},
		{pageQuery, `{"v": null}`, `{"projects":{"totalCount":1}}`},
		{pageQuery, `{}`, `{"projects":{"totalCount":1}}`},
		{pageQuery, `null`, `{"projects":{"totalCount":1}}`},
		{pageQuery, `{"v": 1, "undeclared": {"a": [1]}}`, `{"projects":{"totalCount":1}}`},
		{pageOfFiveQuery, `{}`, `{"projects":{"totalCount":1}}`},
		{pageOfFiveQuery, `{"v": null}`, `{"projects":{"totalCount":1}}`},
		{searchQuery, `{"v": "\ud83d\ude00"}`, `{"moduleDefinitions":{"totalCount":0}}`},
		{statusQuery, `{"v": "ACTIVE"}`, `{"moduleDefinitions":{"totalCount":1}}`},
		{skipQuery, `{"v": true}`, `{}`},
		{skippableQuery, `{}`, `{"viewer":{"role":"ADMIN"}}`},
		{oneQuery, `{"v": "` + p.Project.ID + `"}`, `{"project":{"id":"` + p.Project.ID + `"}}`},
		{manyQuery, `{"v": ["` + p.Project.ID + `"]}`, `{"nodes":[{"id":"` + p.Project.ID + `"}]}`},
		{manyQuery, `{"v": "` + p.Project.ID + `"}`, `{"nodes":[{"id":"` + p.Project.ID + `"}]}`},
		{manyQuery, `{"v": []}`, `{"nodes":[]}`},
		{sinceQuery, `{"v": "2026-03-01T09:30:00.123456789Z"}`, `{"deployments":{"totalCount":0}}`},
		{givenIDQuery, `{"v": "a-B_3"}`, `{"defaultValueDefinitions":{"totalCount":0}}`},
		{filterQuery, `{"v": {"statuses": null}}`, `{"deployments":{"totalCount":0}}`},
		{filterQuery, `{"v": {}}`, `{"deployments":{"totalCount":0}}`},
		{createMutation, `{"v": {"name": "N", "slug": "n"}}`, `{"createProject":{"project":{"slug":"n"}}}`},
		{propertyQuery, `{"v": {"string": {"id": "a", "label": "A", "patterns": {"pattern": "a", "message": "m"}}}}`, `{"validateInputs":{"valid":true}}`},
		{valuesQuery, `{"v": {}}`, `{"validateInputs":{"valid":true}}`},
	} {
		if r := sent(t, w, c.document, c.variables); r.At(t, "errors") != nil || dataOf(t, r) != c.want {
			t.Errorf("%s of %s: want %s, got %s", c.variables, c.document, c.want, r.Body)
		}
	}
}

// dataOf is the text of an answer's data.
func dataOf(t *testing.T, r worldtest.Response) string {
	t.Helper()
	var answer struct{ Data json.RawMessage }
	if err := json.Unmarshal(r.Body, &answer); err != nil {
		t.Error(err)
	}
	return string(answer.Data)
}

// Numbers that fit are judged by the field they are for.
func TestTheEdgesOfIntAndIDReachTheirFields(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for _, c := range []struct{ document, value, message string }{
		{pageQuery, `2147483647`, "first must be between 1 and 100, got 2147483647."},
		{pageQuery, `-2147483648`, "first must be between 1 and 100, got -2147483648."},
		{oneQuery, `5`, `Project with the id "5" not found.`},
		{oneQuery, `123456789012345678901234567890`, `Project with the id "123456789012345678901234567890" not found.`},
	} {
		if r := sent(t, w, c.document, variablesOf(c.value)); r.Text(t, "errors", 0, "message") != c.message {
			t.Errorf("%s of %s: want %q, got %s", c.value, c.document, c.message, r.Body)
		}
	}
}

func TestAWholeNumberReachesAFieldOfIDsAsItsText(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for _, number := range []string{
		"7", "-7", "-0", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
	} {
		for document, variables := range map[string]string{
			`{ project(id: %s) { id } }`:                                           `{}`,
			`{ nodes(ids: [%s]) { id } }`:                                          `{}`,
			`{ nodes(ids: %s) { id } }`:                                            `{}`,
			`query($v: ID! = %s) { project(id: $v) { id } }`:                       `{}`,
			`query($v: [ID!]! = [%s]) { nodes(ids: $v) { id } }`:                   `{}`,
			`query($v: [ID!]! = %s) { nodes(ids: $v) { id } }`:                     `{}`,
			`mutation { cancelDeployment(input: {id: %s}) { deployment { id } } }`: `{}`,
			`mutation($v: CancelDeploymentInput! = {id: %s}) { cancelDeployment(input: $v) { deployment { id } } }`: `{}`,
			`query($v: ID!) { project(id: $v) { id } }`:                                                             `{"v": %s}`,
			`query($v: [ID!]!) { nodes(ids: $v) { id } }`:                                                           `{"v": [%s]}`,
			`mutation($v: CancelDeploymentInput!) { cancelDeployment(input: $v) { deployment { id } } }`:            `{"v": {"id": %s}}`,
		} {
			r := sent(t, w, strings.ReplaceAll(document, "%s", number), strings.ReplaceAll(variables, "%s", number))
			if want := fmt.Sprintf(" with the id %q not found.", number); !strings.HasSuffix(r.Text(t, "errors", 0, "message"), want) {
				t.Errorf("%s in %s: %d %s", number, document, r.Status, r.Body)
			}
		}
	}
}

func TestVariablesThatAreNoObjectAreMalformed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for variables, found := range map[string]string{
		`[]`: "an array", `"x"`: "a string", `5`: "a number", `true`: "a boolean",
	} {
		body := fmt.Sprintf(`{"query": %q, "variables": %s}`, pageQuery, variables)
		r := w.REST(t, http.MethodPost, "/graphql", w.Acme.Tokens[actor.Admin], body, nil)
		want := "The request /variables must be an object or null, found " + found + "."
		if r.Status != 400 || r.Code(t) != requestMalformed || r.Text(t, "errors", 0, "message") != want {
			t.Errorf("%s: %d %s", variables, r.Status, r.Body)
		}
		if at := r.At(t, "errors", 0, "extensions", "metadata", "violations", 0, "pointer"); at != "/variables" {
			t.Errorf("%s: the pointer is %v", variables, at)
		}
	}
}
