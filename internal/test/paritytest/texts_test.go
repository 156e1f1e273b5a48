package paritytest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/gate"
	"slipway/internal/service/rule"
	"slipway/internal/test/worldtest"
)

// written is a text of a record and a way to write it.
type written struct {
	// name is the operation and the field, pointer the place of the text in its input.
	name, pointer string
	// lines tells of a text that may have line feeds and tabs; limit is how many characters it may have.
	lines bool
	limit int
	// write writes the text; at is the place of the text in the answer.
	write func(text string) worldtest.Response
	at    []any
}

// texts are all texts of records that callers write.
type texts struct {
	w     *worldtest.World
	place *worldtest.Fixture
	count int
}

// fresh returns a name that nothing has.
func (x *texts) fresh() string {
	x.count++
	return fmt.Sprint("fresh-", x.count)
}

// field is a text of a mutation: input makes the mutation's other members anew for each call, and record
// is the path to the record in the payload.
func (x *texts) field(t *testing.T, role actor.Role, mutation, member, record string, lines bool, limit int, input func() map[string]any) written {
	t.Helper()
	at, selection := []any{"data", mutation}, member
	if mutation == "cancelDeployment" {
		selection = member + ": cancelReason"
	}
	steps := strings.Split(record, ".")
	for i := len(steps) - 1; i >= 0; i-- {
		selection = steps[i] + " { " + selection + " }"
	}
	for _, step := range steps {
		at = append(at, step)
	}
	document := fmt.Sprintf("mutation($input: %s%sInput!) { %s(input: $input) { %s } }", strings.ToUpper(mutation[:1]), mutation[1:], mutation, selection)
	return written{
		name: mutation + "." + member, pointer: "/input/" + member, lines: lines, limit: limit, at: append(at, member),
		write: func(text string) worldtest.Response {
			members := input()
			members[member] = text
			if role == actor.Superadmin {
				return x.w.In(actor.Global).GraphQL(t, x.w.Superadmin, document, map[string]any{"input": members})
			}
			return x.w.GraphQL(t, x.w.Acme.Tokens[role], document, map[string]any{"input": members})
		},
	}
}

func (x *texts) all(t *testing.T) []written {
	t.Helper()
	d, released := definition(t, x.w, x.w.Acme, "image", plainSchema), x.place.Succeeded(t)
	runs := x.place.Deploy(t, x.place.NewInstance(t, "runs").ID, `{"image":"web:1"}`)
	lease := x.place.Claim(t, runs)
	ruleID := distantRule(t, x.w, x.place.Project.ID)
	type members = map[string]any
	var list []written
	add := func(role actor.Role, mutation, record string, lines bool, limit int, input func() members, names ...string) {
		for _, name := range names {
			list = append(list, x.field(t, role, mutation, name, record, lines, limit, input))
		}
	}
	const one, many, name, description, identifier = false, true, 200, 10_000, 2_048

	project := func() members { return members{"name": "x", "slug": x.fresh()} }
	add(actor.Admin, "createProject", "project", one, name, project, "name")
	environment := func() members {
		return members{"name": "x", "slug": x.fresh(), "projectId": x.place.Project.ID}
	}
	add(actor.Admin, "createEnvironment", "environment", one, name, environment, "name")

	projectPatch, environmentPatch := func() members { return members{"id": x.place.Project.ID} }, func() members { return members{"id": x.place.Environment.ID} }
	add(actor.Admin, "updateProject", "project", one, name, projectPatch, "name")
	add(actor.Admin, "updateEnvironment", "environment", one, name, environmentPatch, "name")

	token := func() members { return members{"name": "x", "role": "VIEWER"} }
	add(actor.Admin, "createToken", "token", one, name, token, "name")
	organization := func() members { return members{"name": "x", "slug": x.fresh()} }
	add(actor.Superadmin, "createOrganization", "organization", one, name, organization, "name")

	module := func() members { return members{"name": "x", "type": x.fresh()} }
	add(actor.Admin, "createModuleDefinition", "moduleDefinition", one, name, module, "name")
	add(actor.Admin, "createModuleDefinition", "moduleDefinition", many, description, module, "description")
	modulePatch := func() members { return members{"id": x.place.Definition.ID} }
	add(actor.Admin, "updateModuleDefinition", "moduleDefinition", one, name, modulePatch, "name")
	add(actor.Admin, "updateModuleDefinition", "moduleDefinition", many, description, modulePatch, "description")
	version := func() members {
		return members{"moduleDefinitionId": x.place.Definition.ID, "version": "2.0.0-" + x.fresh(), "deploymentType": "terraform", "inputs": []any{}}
	}
	add(actor.Admin, "publishModuleVersion", "moduleVersion", one, identifier, version, "sourceRef")
	add(actor.Admin, "publishModuleVersion", "moduleVersion", one, 1_024, version, "sourcePath")

	deprecated := func() members { return members{"id": x.place.Version.ID} }
	add(actor.Admin, "deprecateModuleVersion", "moduleVersion.deprecation", many, 500, deprecated, "reason")

	value := func() members {
		schema := members{"string": members{"id": "image", "label": "Image"}}
		return members{"givenId": x.fresh(), "name": "x", "schema": schema}
	}
	add(actor.Admin, "createDefaultValueDefinition", "defaultValueDefinition", one, name, value, "name")
	add(actor.Admin, "createDefaultValueDefinition", "defaultValueDefinition", many, description, value, "description")
	patch := func() members { return members{"id": d.ID} }
	add(actor.Admin, "updateDefaultValueDefinition", "defaultValueDefinition", one, name, patch, "name")
	add(actor.Admin, "updateDefaultValueDefinition", "defaultValueDefinition", many, description, patch, "description")
	list = append(list, x.overREST(t, d.ID, "name", one, name), x.overREST(t, d.ID, "description", many, description))

	create := func() members {
		return members{"moduleInstanceId": x.place.NewInstance(t, x.fresh()).ID, "moduleVersionId": x.place.Version.ID,
			"inputs": members{"image": "web:1"}, "artifact": members{"arn": "arn:x"}}
	}
	add(actor.Developer, "createDeployment", "deployment", many, description, create, "description")
	add(actor.Developer, "createDeployment", "deployment", one, identifier, create, "resourceArn", "resourceName")
	add(actor.Developer, "createDeployment", "deployment", many, 500, create, "reason")
	add(actor.Developer, "createDeployment", "deployment", one, name, create, "pipelineRunId", "stepExecutionId")
	replayed := func() members {
		for _, d := range x.w.Store.Client.Deployment.Query().AllX(x.w.Acme.As(actor.Viewer)) {
			if d.ModuleInstanceID == x.place.Instance.ID && d.CompletedAt == nil {
				x.w.Cancel(t, x.w.Acme, d.ID)
			}
		}
		return members{"id": released.ID}
	}
	add(actor.Developer, "rollbackDeployment", "deployment", many, 500, replayed, "reason")
	add(actor.Developer, "redeployDeployment", "deployment", many, 500, replayed, "reason")
	canceled := func() members {
		return members{"id": x.place.Deploy(t, x.place.NewInstance(t, x.fresh()).ID, `{"image":"web:1"}`).ID}
	}
	add(actor.Developer, "cancelDeployment", "deployment", many, 500, canceled, "reason")
	said := func() members {
		tamper(t, x.w, x.w.Acme, `UPDATE deployments SET pipeline_run_id = NULL, step_execution_id = NULL WHERE id = $1`, runs.ID)
		return members{"id": runs.ID, "leaseId": lease}
	}
	add(actor.Runner, "reportDeployment", "deployment", one, name, said, "pipelineRunId", "stepExecutionId")
	report := func() members { return members{"id": runs.ID, "leaseId": lease} }
	add(actor.Runner, "reportDeployment", "deployment", one, identifier, report, "externalDeploymentId", "resourceArn", "resourceName")
	destroyed := func() members {
		id := x.place.NewInstance(t, x.fresh()).ID
		d := x.place.Deploy(t, id, `{"image":"web:1"}`)
		tamper(t, x.w, x.w.Acme, `UPDATE deployments SET status = 'SUCCEEDED', completed_at = created_at WHERE id = $1`, d.ID)
		tamper(t, x.w, x.w.Acme, `UPDATE module_instances SET live_deployment_id = $1 WHERE id = $2`, d.ID, id)
		return members{"id": id}
	}
	add(actor.Admin, "destroyModuleInstance", "deployment", many, 500, destroyed, "reason")
	promoted := func() members {
		return members{"id": released.ID, "moduleInstanceId": x.place.NewInstance(t, x.fresh()).ID}
	}
	add(actor.Developer, "promoteDeployment", "deployment", many, 500, promoted, "reason")
	add(actor.Developer, "promoteDeployment", "deployment", one, name, promoted, "pipelineRunId", "stepExecutionId")
	ruled := func() members {
		return members{"name": "x", "demand": members{"freeze": members{"from": "2200-01-01T00:00:00Z"}}}
	}
	add(actor.Admin, "createRule", "rule", one, name, ruled, "name")
	rulePatch := func() members { return members{"id": ruleID} }
	add(actor.Admin, "updateRule", "rule", one, name, rulePatch, "name")
	quarantine := func() members { return members{"id": *released.ReleaseID} }
	add(actor.Admin, "quarantineRelease", "release.quarantine", many, 1_000, quarantine, "reason")
	return list
}

// distantRule makes a rule of a project that binds nobody yet, and returns its id.
func distantRule(t *testing.T, w *worldtest.World, projectID string) string {
	t.Helper()
	made, _, err := w.Rules.Create(w.Acme.As(actor.Admin), rule.New{
		Name: "x", ProjectID: &projectID, Demand: gate.Demand{Kind: &gate.Freeze{From: time.Now().AddDate(100, 0, 0)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// overREST is a text of the update over REST.
func (x *texts) overREST(t *testing.T, id, member string, lines bool, limit int) written {
	t.Helper()
	return written{
		name: "PATCH " + member, pointer: "/data/" + member, lines: lines, limit: limit, at: []any{"data", member},
		write: func(content string) worldtest.Response {
			return update.rest(t, x.w, x.w.Acme.Tokens[actor.Admin], id, text(t, map[string]any{member: content}))
		},
	}
}

// forbidden has the edges of each range that no text may have, and lineBreaks what only those of several
// lines may. neighbours are next to them and taken.
var (
	forbidden  = []rune{0x00, 0x08, 0x0b, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x9f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069}
	lineBreaks = []rune{'\n', '\t'}
	neighbours = []rune{0x20, 0x7e, 0xa0, 0x200f, 0x2027, 0x202f, 0x2065, 0x206a}
)

func TestTextsOfRecordsHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		x := &texts{w: w, place: w.Fixture(t, w.Acme, "web")}
		for _, field := range x.all(t) {
			bad, good := forbidden, string(neighbours)
			if field.lines {
				good += string(lineBreaks)
			} else {
				bad = append(lineBreaks, bad...)
			}
			for _, r := range bad {
				field.refuses(t, "né"+string(r)+"e", "control_character", fmt.Sprintf("found U+%04X at character 3", r))
			}
			field.takes(t, "né"+good+"e")
		}
	})
}

func TestTextsOfRecordsAreBoundInTheirCharacters(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		x := &texts{w: w, place: w.Fixture(t, w.Acme, "web")}
		for _, field := range x.all(t) {
			rule, says := "max_length", fmt.Sprintf("must have at most %d characters, found %d", field.limit, field.limit+1)
			if strings.HasSuffix(field.name, ".reason") {
				rule, says = "length", fmt.Sprintf("must have 1 to %d characters, found %d", field.limit, field.limit+1)
			}
			field.refuses(t, strings.Repeat("🚀", field.limit+1), rule, says)
			field.takes(t, strings.Repeat("🚀", field.limit))
		}
	})
}

// noTexts are the members of inputs that are of the type String, and no text that a record keeps as it is: they have a form
// of their own, or name something.
var noTexts = []string{
	"createModuleDefinition.type", "updateModuleDefinition.type", "publishModuleVersion.version", "publishModuleVersion.deploymentType", "claimDeployment.deploymentTypes",
	"createDeployment.withoutInputs", "createDeployment.idempotencyKey", "rollbackDeployment.idempotencyKey", "redeployDeployment.idempotencyKey",
	"destroyModuleInstance.idempotencyKey", "moveService.serviceArn", "promoteDeployment.idempotencyKey",
	"createDeployment.expectedPlan", "rollbackDeployment.expectedPlan", "redeployDeployment.expectedPlan", "destroyModuleInstance.expectedPlan", "promoteDeployment.expectedPlan",
	"publishModuleVersion.sourceUrl", // which catalog/source_test.go tries
	// Which deployment/control_test.go and approval_test.go try.
	"createDeployment.overrideReason", "rollbackDeployment.overrideReason", "redeployDeployment.overrideReason", "destroyModuleInstance.overrideReason",
	"promoteDeployment.overrideReason", "startDeployment.overrideReason", "approveDeployment.reason", "rejectDeployment.reason", "updateModuleInstance.ownInputs",
}

func TestEveryTextOfAnInputIsLookedAt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	looked := map[string]bool{}
	for _, name := range noTexts {
		looked[name] = true
	}
	for _, field := range (&texts{w: w, place: w.Fixture(t, w.Acme, "web")}).all(t) {
		looked[field.name] = true
	}
	schema := schemaOf(t)
	for _, mutation := range schema.Mutation.Fields {
		for _, member := range schema.Types[mutation.Arguments[0].Type.Name()].Fields {
			if name := mutation.Name + "." + member.Name; member.Type.Name() == "String" && !looked[name] {
				t.Errorf("%s is neither among the texts nor among those that are none", name)
			}
		}
	}
}

func TestNoNameAndNoReasonIsBlank(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		x := &texts{w: w, place: w.Fixture(t, w.Acme, "web")}
		schema, names := schemaOf(t), map[string]bool{"createModuleInstance.name": true, "updateModuleInstance.name": true} // which have the form of a GivenId
		for _, field := range x.all(t) {
			names[field.name] = true
			for _, blank := range []string{"\u00a0 \u3000", "\u200b\u2060"} {
				if strings.HasSuffix(field.name, "name") && !strings.HasSuffix(field.name, "resourceName") || strings.HasSuffix(field.name, ".reason") {
					field.refuses(t, blank, "blank", fmt.Sprintf("found %d that are not", len([]rune(blank))))
				}
			}
		}
		for _, mutation := range schema.Mutation.Fields {
			for _, member := range schema.Types[mutation.Arguments[0].Type.Name()].Fields {
				if name := mutation.Name + "." + member.Name; member.Name == "name" && !names[name] {
					t.Errorf("%s is among no texts", name)
				}
			}
		}
	})
}

// refuses wants a text to be refused by a rule, in words that end so and have none of the text's.
func (f written) refuses(t *testing.T, text, rule, says string) {
	t.Helper()
	r := f.write(text)
	refusal := r.Refusal(t)
	message := firstMessage(refusal)
	if got := first(refusal); refusal["code"] != string(fault.RequestInvalid) || got != (place{f.pointer, rule}) || !strings.HasSuffix(message, says) {
		t.Errorf("%s: %+.20q: got %v %q, want %s by %s: %.300s", f.name, text, got, message, says, rule, r.Body)
	}
	if strings.Contains(string(r.Body), text) {
		t.Errorf("%s: the refusal repeats %+.20q", f.name, text)
	}
}

// firstMessage is what a refusal's first violation says.
func firstMessage(refusal map[string]any) string {
	metadata, _ := refusal["metadata"].(map[string]any)
	violations, _ := metadata["violations"].([]any)
	if len(violations) == 0 {
		return ""
	}
	v, _ := violations[0].(map[string]any)
	return fmt.Sprint(v["message"])
}

// takes wants a text to be stored as it is.
func (f written) takes(t *testing.T, text string) {
	t.Helper()
	if r := f.write(text); r.Refusal(t) != nil || r.At(t, f.at...) != text {
		t.Errorf("%s: %+.60q: %d %.300s", f.name, text, r.Status, r.Body)
	}
}

func TestFormsOfSlugsHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	admin, p := w.Acme.Tokens[actor.Admin], w.Fixture(t, w.Acme, "web")
	for _, r := range append(lineBreaks, forbidden...) {
		text := "a" + string(r)
		for document, input := range map[string]map[string]any{
			`mutation($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }`:                            {"name": "x", "slug": text},
			`mutation($input: CreateModuleDefinitionInput!) { createModuleDefinition(input: $input) { moduleDefinition { id } } }`: {"name": "x", "type": text},
			`mutation($input: CreateModuleInstanceInput!) { createModuleInstance(input: $input) { moduleInstance { id } } }`: {
				"name": text, "environmentId": p.Environment.ID, "moduleDefinitionId": p.Definition.ID},
		} {
			writesNothing(t, w, func() {
				answer := w.GraphQL(t, admin, document, map[string]any{"input": input})
				if answer.Refusal(t) == nil || strings.Contains(string(answer.Body), text) {
					t.Errorf("%+q: %d %s", text, answer.Status, answer.Body)
				}
			})
		}
	}
}

func TestWhatAProgramSaysIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Runner]
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		said := "é" + string(forbidden) + string(lineBreaks)
		reported := w.GraphQL(t, runner, `mutation($input: ReportDeploymentInput!) {
			reportDeployment(input: $input) { deployment { events { message hookId lifecycleStage } } } }`, map[string]any{"input": map[string]any{
			"id": d.ID, "leaseId": lease, "events": []any{map[string]any{"message": said, "hookId": said, "lifecycleStage": said}},
		}})
		for _, member := range []string{"message", "hookId", "lifecycleStage"} {
			if got := reported.At(t, "data", "reportDeployment", "deployment", "events", 0, member); got != said {
				t.Errorf("%s is %+q: %s", member, got, reported.Body)
			}
		}
		ending := func(message, description string) worldtest.Response {
			return w.GraphQL(t, runner, `mutation($input: CompleteDeploymentInput!) { completeDeployment(input: $input) { deployment { id } } }`,
				map[string]any{"input": map[string]any{"id": d.ID, "leaseId": lease, "error": map[string]any{"message": message, "description": description}}})
		}
		long := func(n int) string { return strings.Repeat("🚀", n) }
		for pointer, r := range map[string]worldtest.Response{
			"/input/error/message": ending(long(4097), long(10_000)), "/input/error/description": ending(long(4096), long(10_001)),
		} {
			if got := first(r.Refusal(t)); got != (place{pointer, "max_length"}) {
				t.Errorf("%v, want it refused at %s: %.300s", got, pointer, r.Body)
			}
		}
		message, description := said+long(4096-len([]rune(said))), said+long(10_000-len([]rune(said)))
		if r := ending(message, description); r.Refusal(t) != nil {
			t.Fatalf("%.300s", r.Body)
		}
		overREST := read.rest(t, w, runner, d.ID, "")
		if overREST.At(t, "data", "error", "message") != message || overREST.At(t, "data", "error", "description") != description {
			t.Errorf("over REST: %.300s", overREST.Body)
		}
	})
}

func TestTextsOlderThanTheRulesStayReadableAndReplayable(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, r := w.Fixture(t, w.Acme, "old"), recordsOf(t, w, w.Acme)
		old := "\u202e\x1b[31m" + strings.Repeat("x", 10_001)
		tamper(t, w, w.Acme, `UPDATE projects SET name = $1 WHERE id = $2`, old, p.Project.ID)
		tamper(t, w, w.Acme, `UPDATE module_definitions SET name = $1, description = $1 WHERE id = $2`, old, p.Definition.ID)
		tamper(t, w, w.Acme, `UPDATE default_value_definitions SET name = $1, description = $1 WHERE id = $2`, old, r.definition.ID)
		tamper(t, w, w.Acme, `UPDATE deployments SET description = $1, resource_name = $1, resource_arn = $1 WHERE id = $2`, old, r.deployment.ID)

		admin := w.Acme.Tokens[actor.Admin]
		named := w.GraphQL(t, admin, `query($project: ID!, $module: ID!) { project(id: $project) { name } moduleDefinition(id: $module) { name description } }`,
			map[string]any{"project": p.Project.ID, "module": p.Definition.ID})
		if named.At(t, "data", "project", "name") != old || named.At(t, "data", "moduleDefinition", "description") != old {
			t.Errorf("%.300s", named.Body)
		}
		listed := w.REST(t, http.MethodGet, "/module-definitions", admin, "", nil)
		if !strings.Contains(string(listed.Body), old[len(old)-1000:]) {
			t.Errorf("the list of modules: %.300s", listed.Body)
		}
		if got := read.rest(t, w, admin, r.deployment.ID, ""); got.At(t, "data", "description") != old {
			t.Errorf("the deployment: %.300s", got.Body)
		}
		for _, way := range []worldtest.Response{
			update.rest(t, w, admin, r.definition.ID, `{"schema":`+plainSchema+`}`),
			update.graphQL(t, w, admin, r.definition.ID, `{"description":"new"}`),
		} {
			if way.Refusal(t) != nil {
				t.Errorf("a change of another field: %.300s", way.Body)
			}
		}
		for _, replay := range replays {
			made := replay.rest(t, w, admin, r.deployment.ID, "")
			if made.Status != replay.status || made.At(t, "data", "resourceName") != old {
				t.Fatalf("%s: %d %.300s", replay.name, made.Status, made.Body)
			}
			w.Cancel(t, w.Acme, made.Text(t, "data", "id"))
		}
	})
}
