package record_test

import (
	"reflect"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/ent/migrate"
	"slipway/internal/base/actor"
	"slipway/internal/data/record"
	"slipway/internal/test/worldtest"
)

func TestInsertRefusesWhatANewRowCannotHave(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	ctx := w.Acme.As(actor.Admin)
	tx, err := w.Store.Client.Tx(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for want, row := range map[string]record.Row{
		`not of "` + w.Acme.ID:       &ent.Deployment{OrganizationID: w.Globex.ID},
		`of the organization ""`:     &ent.Chore{},
		"has lease_id":               &ent.Deployment{OrganizationID: w.Acme.ID, LeaseID: new("lse_1")},
		"has external_id_adopted":    &ent.Deployment{OrganizationID: w.Acme.ID, ExternalIDAdopted: true},
		"has report_sequence, which": &ent.Deployment{OrganizationID: w.Acme.ID, ReportSequence: 1},
	} {
		if err := record.Insert(ctx, tx, row); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A column that an INSERT leaves out begins null or as the database's default.
func TestWhatAnInsertLeavesOutHasAValue(t *testing.T) {
	t.Parallel()
	rows := map[string]record.Row{}
	for _, r := range []record.Row{
		&ent.AuditEvent{}, &ent.CloudEvent{}, &ent.CloudService{}, &ent.DefaultValueDefinition{}, &ent.DefinitionUse{},
		&ent.Deployment{}, &ent.DeploymentChange{}, &ent.DeploymentLog{}, &ent.DeploymentOutput{}, &ent.DeploymentReference{}, &ent.Environment{}, &ent.GivenInput{}, &ent.IdempotencyKey{},
		&ent.InputBaseline{}, &ent.Chore{}, &ent.ModuleDefinition{}, &ent.ModuleInstance{}, &ent.ModuleVersion{},
		&ent.Approval{}, &ent.Rule{}, &ent.Organization{}, &ent.Project{}, &ent.Quarantine{}, &ent.Release{}, &ent.RunnerAsk{}, &ent.Token{},
	} {
		table, _, _ := strings.Cut(strings.TrimPrefix(r.InsertStatement(), `INSERT INTO "`), `"`)
		rows[table] = r
	}
	for _, table := range migrate.Tables {
		r := rows[table.Name]
		if r == nil {
			t.Fatalf("name the entity of %s here", table.Name)
		}
		if n := strings.Count(r.InsertStatement(), "$"); n != len(r.InsertArguments()) {
			t.Errorf("%s: %d columns and %d arguments", table.Name, n, len(r.InsertArguments()))
		}
		for _, c := range table.Columns {
			isNumber := c.Name == "id" && reflect.ValueOf(r).Elem().FieldByName("ID").CanInt()
			if !strings.Contains(r.InsertStatement(), `"`+c.Name+`"`) && !isNumber && !c.Nullable && c.Default == nil {
				t.Errorf("%s.%s is in no INSERT, is not null and has no default", table.Name, c.Name)
			}
		}
	}
}
