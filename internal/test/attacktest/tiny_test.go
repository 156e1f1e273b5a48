package attacktest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/ent/deployment"
	"slipway/ent/moduleversion"
	enttoken "slipway/ent/token"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/pure/event"
	"slipway/internal/pure/output"
)

// tinyCount is how many records there are of each kind whose JSON is full of tiny values.
const tinyCount = 95

// tiny are the ids of records whose JSON is as large as the interface takes it, of values as small as they may be.
type tiny struct {
	module, version, definition string
	// light is a version with one immutable object, and instance one of it, of whose object much is remembered.
	light, instance string
}

// fillColumns makes one record of each kind through the interface, and copies it in the database.
func (s *server) fillColumns(t *testing.T) {
	t.Helper()
	c, closeCaller := newCaller(s, 0)
	defer closeCaller()
	f := filler{t, c}
	ids := struct{ audit, token string }{}
	f.ask(`{ viewer { organizationId } auditEvents(first: 1) { nodes { id } } tokens(first: 1) { nodes { id } } }`, func(data answered) {
		ids.audit, ids.token = data.AuditEvents.Nodes[0].ID, data.Tokens.Nodes[0].ID
	})
	ctx, k := f.copier()
	made := f.tiny()
	k.copies(ctx, defaultvaluedefinition.Table, defaultvaluedefinition.Columns, f.c.stock.tiny.definition, id.DefaultValueDefinition,
		func(i int) object { return object{"given_id": fmt.Sprint("tiny-", i)} })
	k.copies(ctx, moduleversion.Table, moduleversion.Columns, f.c.stock.tiny.version, id.ModuleVersion,
		func(i int) object { return object{"version": fmt.Sprintf("1.0.%d", i+1)} })
	at := time.Now().UTC()
	k.copies(ctx, deployment.Table, deployment.Columns, made, id.Deployment,
		func(int) object { return object{"status": "FAILED", "completed_at": at, "service_arn": nil} })
	k.copies(ctx, deployment.Table, deployment.Columns, made, id.Deployment, func(int) object {
		return object{"status": "CANCELED", "completed_at": at, "service_arn": nil, "deployment_type": "terraform", "data": nil, "events": manyEvents, "error": longError}
	})
	k.copies(ctx, auditevent.Table, auditevent.Columns, ids.audit, id.AuditEvent, func(int) object { return object{"changes": wideScope} })
	k.copies(ctx, enttoken.Table, enttoken.Columns, ids.token, id.Token, func(int) object { return object{"scope": wideScope, "hash": rand.Text()} })
	k.remember(ctx, f.c.stock.tiny.instance, made)
	k.produce(ctx)
}

var (
	tinyMembers = "{" + members(18_000, `"%d":0`) + "}"
	manyEvents  = list(event.MaxCount, `{"currentStep":%d,"message":"`+strings.Repeat("m", event.MaxBytes/event.MaxCount-60)+`"}`)
	longError   = `{"code":"c","message":"` + strings.Repeat("m", event.MaxText) + `","description":"` + long + `"}`
	wideScope   = `{"projects":` + list(100, `"prj_01h455vb4pex5vsknk084%05d"`) + `,"environments":` + list(100, `"env_01h455vb4pex5vsknk084%05d"`) +
		`,"moduleDefinitions":` + list(100, `"mod_01h455vb4pex5vsknk084%05d"`) + `}`
)

// tiny makes the first record of each kind, and returns the deployment.
func (f filler) tiny() (deploymentID string) {
	f.t.Helper()
	schema := `{"id":"a","label":"L","type":"object","default":` + tinyMembers + `}`
	t := &f.c.stock.tiny
	t.definition = f.make("createDefaultValueDefinition", "defaultValueDefinition", object{"givenId": "tiny", "name": "N", "schema": object{"json": raw(schema)}})
	options := `{"id":"a","label":"L","type":"string","values":` + list(500, `"%d"`) + `}`
	f.make("createDefaultValueDefinition", "defaultValueDefinition", object{"givenId": "options", "name": "N", "schema": object{"json": raw(options)}})
	t.module = f.make("createModuleDefinition", "moduleDefinition", object{"name": "M", "type": "tiny", "status": "ACTIVE"})
	version := func(number, inputs string) string {
		return f.make("publishModuleVersion", "moduleVersion", object{
			"moduleDefinitionId": t.module, "version": number, "deploymentType": "aws:ecs", "inputs": wrapped(inputs),
			"outputs": raw(list(output.MaxCount, `{"name":"n%d"}`)),
		})
	}
	t.version, t.light = version("1.0.0", "["+schema+"]"), version("0.1.0", `[{"id":"o","label":"L","type":"object","immutable":true}]`)
	t.instance = f.make("createModuleInstance", "moduleInstance", object{"environmentId": f.c.stock.environment, "moduleDefinitionId": t.module, "name": "tiny"})
	rules := `[{"rules":[` + strings.TrimSuffix(strings.Repeat("{},", 40_000), ",") + `]}]`
	return f.make("createDeployment", "deployment", object{
		"moduleVersionId": t.light, "moduleInstanceId": t.instance, "inputs": raw(`{"o":{` + members(9_000, `"%d":0`) + `}}`), "artifact": raw(`{}`),
		"data": raw(`{"elbListenerState":` + rules + `}`),
	})
}

// answered is the answer to a question about what there is.
type answered struct {
	Viewer      struct{ OrganizationID string }
	AuditEvents struct{ Nodes []struct{ ID string } }
	Tokens      struct{ Nodes []struct{ ID string } }
}

func (f filler) ask(query string, use func(answered)) {
	f.t.Helper()
	body, err := operation(query, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	_, text, err := f.c.exchange(f.t.Context(), request{body: bytes.NewReader(body)})
	var answer struct{ Data answered }
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil || answer.Data.Viewer.OrganizationID == "" {
		f.t.Fatalf("%.1000s, %v", text, err)
	}
	use(answer.Data)
}

// copier writes rows beside the server, which would take long to make them.
type copier struct {
	t  *testing.T
	db *store.Store
}

// copier opens the server's database until the test ends. Its context is of an admin of the organization.
func (f filler) copier() (context.Context, copier) {
	f.t.Helper()
	db, err := store.Open(f.t.Context(), store.Config{URL: f.c.database})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.t.Error(err)
		}
	})
	admin := &actor.Actor{Name: "test", Role: actor.Admin}
	f.ask(`{ viewer { organizationId } }`, func(data answered) { admin.OrganizationID = data.Viewer.OrganizationID })
	return actor.With(f.t.Context(), admin), copier{f.t, db}
}

func (k copier) tx(ctx context.Context, f func(ctx context.Context, tx *ent.Tx) error) {
	k.t.Helper()
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	if err := k.db.Tx(ctx, never, f); err != nil {
		k.t.Fatal(err)
	}
}

// copies copies a row so that there are tinyCount, each with an id of its own and what differs.
func (k copier) copies(ctx context.Context, table string, columns []string, of string, kind id.Kind, differs func(i int) object) {
	k.t.Helper()
	for i := range tinyCount - 1 {
		own := maps.Clone(differs(i))
		own["id"] = id.New(kind)
		var args []any
		values := make([]string, len(columns))
		for j, c := range columns {
			value, differs := own[c]
			switch {
			case !differs:
				values[j] = `"` + c + `"`
			case value == nil:
				values[j] = "NULL"
			default:
				args = append(args, value)
				values[j] = fmt.Sprintf("$%d", len(args))
			}
		}
		text := fmt.Sprintf(`INSERT INTO %q (%s) SELECT %s FROM %q WHERE "id" = $%d`,
			table, `"`+strings.Join(columns, `", "`)+`"`, strings.Join(values, ", "), table, len(args)+1)
		k.tx(ctx, func(ctx context.Context, tx *ent.Tx) error {
			_, err := tx.ExecContext(ctx, text, append(args, of)...)
			return err
		})
	}
}

// remember has a deployment be the live one of its instance, of whose immutable object much is remembered.
func (k copier) remember(ctx context.Context, instance, live string) {
	k.t.Helper()
	k.tx(ctx, func(ctx context.Context, tx *ent.Tx) error {
		i, err := tx.ModuleInstance.Get(ctx, instance)
		if err != nil {
			return err
		}
		err = tx.InputBaseline.Create().SetOrganizationID(i.OrganizationID).SetModuleInstanceID(instance).SetDeploymentID(live).
			SetContent(`{"o":` + tinyMembers + `}`).SetUpdatedAt(time.Now().UTC()).Exec(ctx)
		if err != nil {
			return err
		}
		return i.Update().SetLiveDeploymentID(live).Exec(ctx)
	})
}

// produce gives outputs to each deployment that has failed, which has none otherwise.
func (k copier) produce(ctx context.Context) {
	k.t.Helper()
	k.tx(ctx, func(ctx context.Context, tx *ent.Tx) error {
		all, err := tx.Deployment.Query().Where(deployment.StatusEQ(deployment.StatusFAILED)).All(ctx)
		for _, d := range all {
			if err == nil {
				err = tx.DeploymentOutput.Create().SetOrganizationID(d.OrganizationID).SetDeploymentID(d.ID).
					SetContent(`{"o":{` + members(5_000, `"%d":0`) + `}}`).Exec(ctx)
			}
		}
		return err
	})
}
