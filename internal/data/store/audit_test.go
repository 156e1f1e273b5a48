package store_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/pure/runlog"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/runners"
	"slipway/internal/service/rule"
	"slipway/internal/test/worldtest"
)

func TestEveryStatementOverTenantsRowsIsBoundToOne(t *testing.T) {
	t.Parallel()
	tables := map[string]store.Class{}
	for table, class := range classes(t) {
		tables[table.Name] = class
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ran := append(w.Statements(func() { callServices(t, w) }), w.Statements(func() { ask(t, w) })...)
		seen := map[string]bool{}
		for i, text := range ran {
			for _, statement := range insertsOf(text) {
				table, bound := auditOf(statement, tables)
				seen[table] = true
				if !bound && !(i > 0 && readsBack(statement, ran[i-1])) {
					t.Errorf("%s is not bound to an organization: %s", table, text)
				}
			}
		}
		for table, class := range tables {
			if class != store.Control && !seen[table] {
				t.Errorf("no statement over %s was audited", table)
			}
		}
	})
}

func TestAuditSeesStatementsWithoutAnOrganization(t *testing.T) {
	t.Parallel()
	tables := map[string]store.Class{"deployments": store.Owned, "module_versions": store.Shared, "tokens": store.Control}
	for statement, bound := range map[string]bool{
		`SELECT "t"."id", "t"."organization_id" FROM "deployments" AS "t" WHERE "t"."id" = $1`:   false,
		`SELECT "t"."id" FROM "deployments" AS "t"`:                                              false,
		`UPDATE "deployments" SET "organization_id" = $1 WHERE "id" = $2`:                        false,
		`DELETE FROM "module_versions" WHERE "id" = $1`:                                          false,
		`INSERT INTO "deployments" ("id") VALUES ($1)`:                                           false,
		`INSERT INTO "deployments" ("id", "organization_id") VALUES ($1, $2)`:                    true,
		`SELECT "t"."id" FROM "deployments" AS "t" WHERE "t"."organization_id" = $1 AND "x" = 1`: true,
		`SELECT "hash" FROM "tokens" WHERE "hash" = $1`:                                          true,
	} {
		if _, got := auditOf(statement, tables); got != bound {
			t.Errorf("%s: bound %t, want %t", statement, got, bound)
		}
	}
	list := []string{`INSERT INTO "deployments" ("id") VALUES ($1)`, `INSERT INTO "releases" ("id") VALUES ($2)`, `INSERT INTO "tokens" ("id") VALUES ($3)`}
	together := fmt.Sprintf(`WITH "insert_1" AS (%s), "insert_2" AS (%s) %s`, list[0], list[1], list[2])
	if diff := cmp.Diff(list, insertsOf(together)); diff != "" {
		t.Error(diff)
	}
}

// insertsOf returns the INSERTs that were sent as one statement, or the statement if it is none of these.
func insertsOf(text string) []string {
	if !strings.HasPrefix(text, `WITH "insert_1" AS `) {
		return []string{text}
	}
	list := strings.Split(text, "INSERT ")[1:]
	for i := range list[:len(list)-1] {
		list[i] = list[i][:strings.LastIndex(list[i], ")")]
	}
	for i := range list {
		list[i] = "INSERT " + list[i]
	}
	return list
}

var quotedNames = regexp.MustCompile("[\"`]([a-z_]+)[\"`]")

// auditOf returns the tenants' table that a statement is over, and whether its conditions, or the columns
// that it inserts, have the organization. Global rows of shared tables are inserted without one.
func auditOf(statement string, tables map[string]store.Class) (table string, bound bool) {
	for _, name := range quotedNames.FindAllStringSubmatch(statement, -1) {
		if class := tables[name[1]]; class == store.Owned || class == store.Shared {
			table = name[1]
		}
	}
	if table == "" {
		return "", true
	}
	if strings.HasPrefix(statement, "INSERT") {
		return table, tables[table] == store.Shared || strings.Contains(statement, "organization_id")
	}
	_, conditions, _ := strings.Cut(statement, " WHERE ")
	return table, strings.Contains(conditions, "organization_id")
}

// readsBack reports whether a statement is ent's reading of the row that the update before it, which is
// audited itself, has changed.
func readsBack(statement, before string) bool {
	_, conditions, _ := strings.Cut(statement, " WHERE ")
	update, isUpdate := strings.CutPrefix(before, "UPDATE ")
	table, _, _ := strings.Cut(update, " ")
	return isUpdate && strings.Contains(statement, " FROM "+table+" ") && byID.MatchString(conditions)
}

var byID = regexp.MustCompile("^[\"`]id[\"`] = (\\?|\\$1)$")

// callServices calls what the services can do, once.
func callServices(t *testing.T, w *worldtest.World) {
	t.Helper()
	admin, runner := w.Acme.As(actor.Admin), w.Acme.As(actor.Runner)
	p := w.Fixture(t, w.Acme, "web")
	target := p.Succeeded(t)
	feed(t, w, p)
	p.Failed(t)
	rolled, _, err := w.Deploy.Propose.Rollback(admin, propose.Replay{SourceID: target.ID, Request: admission.Request{IdempotencyKey: new("key")}})
	must(t, err)
	_, _, err = w.Deploy.Propose.Redeploy(admin, propose.Replay{SourceID: target.ID})
	if err == nil {
		t.Error("redeploy beside an active deployment")
	}
	_, lease, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes, LeaseID: new("my-lease-1")})
	must(t, err)
	w.Deploy.Runners.StoreAsks(t.Context())
	_, err = w.Deploy.Runners.List(admin, runners.Filter{EnvironmentID: &p.Environment.ID}, page.Args{})
	must(t, err)
	_, _, err = w.Deploy.Execution.RenewLease(runner, rolled.ID, lease.ID)
	must(t, err)
	_, _, err = w.Deploy.Execution.Report(runner, rolled.ID, lease.ID, execution.Report{
		Data: strictjson.MustParse(`{"detectedVia":"poll"}`), Logs: []runlog.Line{{At: new(time.Now()), Stream: runlog.Stdout, Text: "x"}},
	})
	must(t, err)
	w.Cancel(t, w.Acme, rolled.ID)
	_, err = w.Deploy.Releases.Quarantine(admin, *target.ReleaseID, "bad", nil)
	must(t, err)
	_, err = w.Deploy.Releases.UnquarantineRelease(admin, *target.ReleaseID)
	must(t, err)
	must(t, w.Deploy.CloudEvents.ReceiveECSEvent(runner, strictjson.MustParse(started)))
	keepHouse(t, w, p)
	editDefaults(t, w, admin)
	control(t, w, p)
	name := "Web"
	_, _, err = w.Catalog.UpdateDefinition(admin, p.Definition.ID, catalog.DefinitionPatch{Name: &name})
	must(t, err)
	root := actor.With(context.Background(), &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI})
	_, _, err = w.Catalog.CreateDefinition(root, catalog.NewDefinition{Name: "Global", Type: "global", Status: moduledefinition.StatusACTIVE})
	must(t, err)
}

// control has a deployment wait for approvals, be approved of and started.
func control(t *testing.T, w *worldtest.World, p *worldtest.Fixture) {
	t.Helper()
	admin := w.Acme.As(actor.Admin)
	r, _, err := w.Rules.Create(admin, rule.New{Name: "Four eyes", EnvironmentID: &p.Environment.ID, Demand: gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}})
	must(t, err)
	d := p.Deploy(t, p.NewInstance(t, "waiting").ID, `{"image":"web:1"}`)
	approved, err := w.Deploy.Waiting.Approve(admin, d.ID, nil, true)
	must(t, err)
	if !approved.Started {
		t.Error("it was not started")
	}
	w.Cancel(t, w.Acme, d.ID)
	_, _, err = w.Rules.Update(admin, r.ID, rule.Patch{Name: new("Two")})
	must(t, err)
	_, err = w.Rules.End(admin, r.ID, nil)
	must(t, err)
}

// feed has an instance report outputs, and another read them.
func feed(t *testing.T, w *worldtest.World, p *worldtest.Fixture) {
	t.Helper()
	making := p.Deploy(t, p.NewInstance(t, "making").ID, `{"image":"web:1"}`)
	completion := execution.Completion{Outputs: strictjson.MustParse(`{"url":"u"}`)}
	_, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), making.ID, p.Claim(t, making), completion)
	must(t, err)
	version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: "0.1.0", Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse(`[{"id":"of","type":"$ref:web","label":"Of",
			"mapped_inputs":[{"id":"url","type":"string","label":"URL","default":"${{ ref.stack.output.url }}"}]}]`),
	})
	must(t, err)
	reading, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.NewInstance(t, "reading").ID, VersionID: version.ID, Inputs: strictjson.MustParse(`{"of":"` + making.ModuleInstanceID + `"}`),
	})
	must(t, err)
	p.Finish(t, reading, nil)
}

// started is an event of the service of the fixtures.
var started = `{"id":"1","detail-type":"ECS Deployment State Change","time":"` + time.Now().UTC().Format(time.RFC3339) + `",
	"resources":["arn:aws:ecs:eu-west-1:123456789012:service/main/web"],"detail":{"eventName":"SERVICE_DEPLOYMENT_IN_PROGRESS","deploymentId":"ecs-svc/1"}}`

// keepHouse lets a lease run out, and everything that can be purged be too old.
func keepHouse(t *testing.T, w *worldtest.World, p *worldtest.Fixture) {
	t.Helper()
	p.Claim(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`))
	later := store.Now().Add(30 * 24 * time.Hour)
	house := w.DeployBy(func() time.Time { return later })
	must(t, w.NoteSweep(later, time.Unix(0, 0)))
	forced := p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1"}`)
	p.Claim(t, forced)
	must(t, cancelByForce(w, house, forced.ID))
	_, err := house.View.Counts(t.Context())
	must(t, err)
	expired, err := house.Execution.ExpireLeases(t.Context())
	must(t, err)
	purged, err := w.RetentionAt(later).Purge(t.Context())
	must(t, err)
	if expired != 1 || purged == 0 {
		t.Errorf("%d leases expired, %d rows were purged", expired, purged)
	}
}

// cancelByForce cancels a deployment, and again by force when that is not too early.
func cancelByForce(w *worldtest.World, later *deployment.Services, id string) error {
	if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), id, nil); err != nil {
		return err
	}
	_, err := later.Execution.ForceCancel(w.Acme.As(actor.Admin), id, nil)
	return err
}

func editDefaults(t *testing.T, w *worldtest.World, admin context.Context) {
	t.Helper()
	made, _, err := w.Defaults.Create(admin, defaults.New{GivenID: "region", Name: "Region", Schema: draft(t, `{"id":"region","type":"string","label":"Region"}`)})
	must(t, err)
	name := "Home region"
	_, err = w.Defaults.Update(admin, made.ID, defaults.Patch{Name: &name, Version: &made.Version})
	must(t, err)
	_, err = w.Defaults.Delete(admin, made.ID)
	must(t, err)
}

func draft(t *testing.T, text string) inputprop.RawProperty {
	t.Helper()
	node, err := strictjson.Parse([]byte(text))
	must(t, err)
	return inputprop.NewRawProperty(node)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const everything = `{
	viewer { tokenId organization { id } }
	projects(first: 2) { totalCount nodes { id environments(first: 2) { totalCount nodes { id moduleInstances(first: 2) { nodes { id
		outputs liveDeployment { id outputs release { id quarantine { reason } quarantines { nodes { reason } } deployments(first: 2) { totalCount nodes { id } } } }
		deployments(first: 2) { totalCount pageInfo { endCursor } nodes { id redeployOf { id } rollbackTo { id }
			rollbackEligibility { allowed } redeployEligibility { allowed } lineage { nodes { id } } } }
	} } } } } }
	moduleDefinitions(first: 2) { totalCount nodes { id latestModuleVersion { id } versions(first: 2) { totalCount nodes { id moduleDefinition { id } } } } }
	deployments(first: 2, filter: { statuses: SUCCEEDED }) { totalCount nodes { id project { id } environment { id } moduleInstance { id } } }
	defaultValueDefinitions(first: 2) { totalCount nodes { id } }
	auditEvents(first: 2) { totalCount nodes { id } }
}`

// ask asks over both surfaces.
func ask(t *testing.T, w *worldtest.World) {
	t.Helper()
	token := w.Acme.Tokens[actor.Admin]
	r := w.GraphQL(t, token, everything, nil)
	if r.Status != http.StatusOK || r.At(t, "errors") != nil {
		t.Errorf("GraphQL: %d %s", r.Status, r.Body)
	}
	id := r.Text(t, "data", "deployments", "nodes", 0, "id")
	r = w.GraphQL(t, token, `query($id: ID!) { node(id: $id) { id } }`, map[string]any{"id": id})
	if r.Text(t, "data", "node", "id") != id {
		t.Errorf("node: %s", r.Body)
	}
	for path, token := range map[string]string{
		"/deployments/" + id:  token,
		"/module-definitions": "",
	} {
		if r := w.REST(t, http.MethodGet, path, token, "", nil); r.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
	r = w.REST(t, http.MethodPost, "/deployments/"+id+"/redeploy", w.Acme.Tokens[actor.Developer], "", nil)
	if r.Status/100 != 2 {
		t.Errorf("redeploy: %d %s", r.Status, r.Body)
	}
}
