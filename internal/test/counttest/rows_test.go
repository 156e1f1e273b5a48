package counttest_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql/schema"

	"slipway/ent"
	"slipway/ent/migrate"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// rows are what the requests ask for.
type rows struct {
	screen                   *worldtest.Fixture
	instanceID, deploymentID string
	// largeID is that of the environment with the most deployments.
	largeID string
	// targetID is that of a deployment that can be rolled back to.
	targetID string
}

// request is one that is counted.
type request struct {
	name, method, path, body string
	status, cursors          int
	// undo, if it is not nil, takes back what the request did.
	undo func(t *testing.T, answer []byte)
}

func (s *counted) requests(t *testing.T) []request {
	t.Helper()
	project, environment := s.screen.Project.ID, s.screen.Environment.ID
	one := map[string]any{"id": s.deploymentID}
	return []request{
		{name: "__typename", method: http.MethodPost, path: "/graphql", body: `{"query":"{ __typename }"}`, status: http.StatusOK},
		operation(t, "A", "A", one, 0),
		operation(t, "B", "B", one, 0),
		operation(t, "C", "C", map[string]any{"environmentId": environment}, 50),
		operation(t, "CL", "C", map[string]any{"environmentId": s.largeID}, 50),
		operation(t, "D", "D", nil, 50),
		s.rollback(operation(t, "M", "M", map[string]any{"id": s.targetID}, 0), "data", "rollbackDeployment", "deployment", "id"),
		operation(t, "S", "S", map[string]any{"projectId": project, "environmentId": environment, "instanceId": s.instanceID}, 0),
		{name: "GET deployment", method: http.MethodGet, path: "/deployments/" + s.deploymentID, status: http.StatusOK},
		{name: "GET module definitions", method: http.MethodGet, path: "/module-definitions?limit=50", status: http.StatusOK},
		s.rollback(request{name: "POST rollback", method: http.MethodPost, path: "/deployments/" + s.targetID + "/rollback", status: http.StatusCreated}, "data", "id"),
	}
}

// operation returns the request for the document of a file of bench/requests.
func operation(t *testing.T, name, file string, variables map[string]any, cursors int) request {
	t.Helper()
	text, err := os.ReadFile("../../../bench/requests/" + file + ".graphql")
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"query": string(text), "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return request{name: name, method: http.MethodPost, path: "/graphql", body: string(body), status: http.StatusOK, cursors: cursors}
}

// rollback has a request's new deployment, whose id is at a path of the answer, canceled.
func (s *counted) rollback(r request, path ...any) request {
	r.undo = func(t *testing.T, answer []byte) {
		t.Helper()
		s.Cancel(t, s.Acme, worldtest.Response{Body: answer}.Text(t, path...))
	}
	return r
}

const (
	instances   = 12
	small       = 60
	large       = 400
	definitions = 60
)

// fill makes one of each record by the services, and the others of their rows.
func (s *counted) fill(t *testing.T, at time.Time) rows {
	t.Helper()
	other := s.Fixture(t, s.Acme, "orders")
	made := rows{screen: s.Fixture(t, s.Acme, "web"), largeID: other.Environment.ID, targetID: s.deploy(t, other).ID}
	target := s.deploy(t, made.screen)
	live, _, err := s.Deploy.Propose.Rollback(s.Acme.As(actor.Developer), propose.Replay{SourceID: target.ID})
	if err != nil {
		t.Fatal(err)
	}
	live = made.screen.Finish(t, live, nil)
	tx, err := s.Raw(t, s.Acme).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &copier{t, tx, at}
	for i := range definitions {
		name := fmt.Sprintf("module-%03d", i)
		c.copy(migrate.ModuleDefinitionsTable, made.screen.Definition.ID, id.ModuleDefinition, map[string]any{
			"name": name, "type": name, "description": "What every team runs for " + name + ", with alarms and a dashboard.",
		})
	}
	for _, e := range []struct {
		*worldtest.Fixture
		deployments int
	}{{other, large}, {made.screen, small}} {
		var instanceIDs []string
		for i := range instances {
			instanceIDs = append(instanceIDs, c.copy(migrate.ModuleInstancesTable, e.Instance.ID, id.ModuleInstance, map[string]any{
				"name": fmt.Sprintf("instance-%02d", i),
			}))
		}
		made.instanceID = instanceIDs[0]
		for i := range e.deployments {
			where := map[string]any{
				"project_id": e.Project.ID, "environment_id": e.Environment.ID, "module_instance_id": instanceIDs[i%instances],
			}
			where["rollback_to_deployment_id"] = c.copy(migrate.DeploymentsTable, target.ID, id.Deployment, where)
			made.deploymentID = c.copy(migrate.DeploymentsTable, live.ID, id.Deployment, where)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return made
}

// deploy makes a deployment of some 4 KB that has succeeded.
func (s *counted) deploy(t *testing.T, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	var variables []string
	for i := range 16 {
		variables = append(variables, fmt.Sprintf(`{"name":"SETTING_%02d","value":%q}`, i, strings.Repeat("x", 80)))
	}
	artifact := `{"arn":"arn:aws:ecs:eu-west-1:123456789012:task-definition/web:7","revision":7,"definition":{"family":"web",
		"containerDefinitions":[{"name":"web","image":"registry.example/web:1.4.2","cpu":256,"environment":[` + strings.Join(variables, ",") + `]}]}}`
	name, description := "service/main/web", "Release 1.4.2"
	d, _, err := s.Deploy.Propose.Create(s.Acme.As(actor.Developer), propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID, ResourceName: &name, Description: &description,
		Inputs: strictjson.MustParse(`{"image":"web:1.4.2"}`), Artifact: strictjson.MustParse(artifact), Data: strictjson.MustParse(strings.Replace(worldtest.Data, "main/web", "main/"+p.Project.Slug[:3], 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.Finish(t, d, nil)
}

// copier makes rows of others, each of them a second newer than the one before.
type copier struct {
	t  *testing.T
	tx *sql.Tx
	at time.Time
}

// copy makes a row like another, with an id of its own and some other columns, and returns its id.
func (c *copier) copy(table *schema.Table, from string, kind id.Kind, changes map[string]any) (newID string) {
	c.t.Helper()
	c.at = c.at.Add(time.Second)
	newID = id.New(kind)
	set := map[string]any{"id": newID, "created_at": c.moment(), "updated_at": c.moment()}
	for _, column := range []string{"started_at", "completed_at"} {
		if slices.ContainsFunc(table.Columns, func(c *schema.Column) bool { return c.Name == column }) {
			set[column] = c.moment()
		}
	}
	for column, value := range changes {
		set[column] = value
	}
	var columns, values []string
	args := []any{from}
	for _, column := range table.Columns {
		quoted := `"` + column.Name + `"`
		columns = append(columns, quoted)
		switch value, changed := set[column.Name]; {
		case changed:
			args = append(args, value)
			values = append(values, fmt.Sprintf("$%d", len(args)))
		case column.Name == "lease_id": // unique
			values = append(values, "NULL")
		default:
			values = append(values, quoted)
		}
	}
	statement := fmt.Sprintf(`INSERT INTO %q (%s) SELECT %s FROM %[1]q WHERE "id" = $1`, table.Name, strings.Join(columns, ", "), strings.Join(values, ", "))
	if _, err := c.tx.ExecContext(c.t.Context(), statement, args...); err != nil {
		c.t.Fatal(err)
	}
	return newID
}

// moment is the time of the row as both databases keep it.
func (c *copier) moment() string { return c.at.Format("2006-01-02 15:04:05.999999999-07:00") }
