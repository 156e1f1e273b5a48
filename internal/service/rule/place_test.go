package rule_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	entdeployment "slipway/ent/deployment"
	entrule "slipway/ent/rule"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/service/account"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/view"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// Wherever somebody asks which rules bind a place, one of an environment binds that alone, one of a project what is in it, and one
// without a place everything.
func TestARuleBindsWhereItIsForAndNowhereElse(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, dev := w.Acme.As(actor.Admin), w.Acme.As(actor.Developer)
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		beside, err := w.Workspace.CreateEnvironment(admin, workspace.NewEnvironment{ProjectID: p.Project.ID, Name: "Beside", Slug: "beside"})
		if err != nil {
			t.Fatal(err)
		}
		instance := func(environmentID, definitionID string) string {
			t.Helper()
			i, err := w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: environmentID, DefinitionID: definitionID, Name: "here"})
			if err != nil {
				t.Fatal(err)
			}
			return i.ID
		}
		in := map[string]struct{ environment, instance string }{
			"environment": {p.Environment.ID, instance(p.Environment.ID, p.Definition.ID)},
			"project":     {beside.ID, instance(beside.ID, p.Definition.ID)},
			"elsewhere":   {other.Environment.ID, instance(other.Environment.ID, p.Definition.ID)},
		}
		_, secret, err := w.Accounts.CreateToken(admin, account.NewToken{Name: "bob", Role: actor.Developer, Holder: new("bob")})
		if err != nil {
			t.Fatal(err)
		}
		verified, err := w.Accounts.VerifyToken(t.Context(), secret.Hash())
		if err != nil {
			t.Fatal(err)
		}
		bob := actor.With(context.Background(), verified.Actor.In(w.Acme.ID))

		for name, c := range map[string]struct {
			in    rule.New
			binds string
		}{
			"an environment": {rule.New{EnvironmentID: &p.Environment.ID}, "environment"},
			"a project":      {rule.New{ProjectID: &p.Project.ID}, "environment project"},
			"everything":     {rule.New{}, "environment project elsewhere"},
		} {
			c.in.Name, c.in.Demand = "R", gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}
			r, _, err := w.Rules.Create(admin, c.in)
			if err != nil {
				t.Fatal(err)
			}
			for where, place := range in {
				binds := strings.Contains(c.binds, where)
				of, err := w.Rules.InForceOf(admin, []string{place.environment})
				if err != nil || (len(of[place.environment]) == 1) != binds {
					t.Errorf("of %s, %s: the rules are %v, %v", name, where, of, err)
				}
				required, err := w.Rules.RequirementsOf(admin, []string{place.environment}, gate.Create)
				if err != nil || (len(required[place.environment]) == 1) != binds {
					t.Errorf("of %s, %s: the requirements are %v, %v", name, where, required, err)
				}
				made, _, err := w.Deploy.Propose.Create(dev, propose.New{InstanceID: place.instance, VersionID: p.Version.ID,
					Inputs: strictjson.MustParse(`{"image":"web:1"}`), Artifact: strictjson.MustParse(worldtest.Artifact)})
				if err != nil {
					t.Fatal(err)
				}
				if waits := made.Status == entdeployment.StatusAWAITING_APPROVAL; waits != binds {
					t.Errorf("of %s, %s: a deployment is %s", name, where, made.Status)
				}
				mine, err := w.Deploy.View.Deployments(bob, view.Filter{AwaitingMyApproval: true}, page.Args{})
				if err != nil || (len(mine.Edges) == 1) != binds {
					t.Errorf("of %s, %s: %d await an approval, %v", name, where, len(mine.Edges), err)
				}
				w.Cancel(t, w.Acme, made.ID)
			}
			if _, err := w.Rules.End(admin, r.ID, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestDeletingAPlaceEndsItsRules(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		project, err := w.Workspace.CreateProject(admin, workspace.NewProject{Name: "P", Slug: "p"})
		if err != nil {
			t.Fatal(err)
		}
		environment := func(slug string) string {
			t.Helper()
			e, err := w.Workspace.CreateEnvironment(admin, workspace.NewEnvironment{ProjectID: project.ID, Name: slug, Slug: slug})
			if err != nil {
				t.Fatal(err)
			}
			return e.ID
		}
		made := 0
		make := func(in rule.New) error {
			made++
			in.Name, in.Demand = fmt.Sprint("R", made), frozen
			_, _, err := w.Rules.Create(admin, in)
			return err
		}
		inForce := func() int { return w.Store.Client.Rule.Query().Where(entrule.EndedAtIsNil()).CountX(admin) }

		one := environment("one")
		for _, in := range []rule.New{{}, {ProjectID: &project.ID}, {EnvironmentID: &one}, {EnvironmentID: &one}} {
			if err := make(in); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Workspace.DeleteEnvironment(admin, one); err != nil || inForce() != 2 {
			t.Errorf("after the environment went %d rules are in force, %v", inForce(), err)
		}
		if _, err := w.Workspace.DeleteProject(admin, project.ID); err != nil || inForce() != 1 {
			t.Errorf("after the project went %d rules are in force, %v", inForce(), err)
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `{ auditEvents(first: 50) { nodes { action } } }`, nil)
		if n := strings.Count(string(r.Body), `"endRule"`); n != 3 {
			t.Errorf("the audit has %d ends of rules: %s", n, r.Body)
		}

		// Of a rule that is made and its place that goes at once, either the rule is refused, or it ends.
		project, err = w.Workspace.CreateProject(admin, workspace.NewProject{Name: "Q", Slug: "q"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			id := environment(fmt.Sprint("at-once-", i))
			var both sync.WaitGroup
			both.Go(func() {
				if err := make(rule.New{EnvironmentID: &id}); err != nil && !fault.Is(err, fault.EnvironmentNotFound) {
					t.Error(err)
				}
			})
			both.Go(func() {
				if _, err := w.Workspace.DeleteEnvironment(admin, id); err != nil {
					t.Error(err)
				}
			})
			both.Wait()
			if inForce() != 1 {
				t.Fatalf("%d rules are in force", inForce())
			}
		}
	})
}

func TestWhoMakesARuleIsWarnedOfAFreezeThatIsOver(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		from := time.Now().Add(-48 * time.Hour)
		for until, want := range map[time.Duration]int{-time.Hour: 1, time.Hour: 0} {
			r, warnings, err := w.Rules.Create(admin, rule.New{Name: "R", Demand: gate.Demand{Kind: &gate.Freeze{From: from, Until: new(time.Now().Add(until))}}})
			if err != nil || len(warnings) != want || want == 1 && (warnings[0].Rule != "over" || warnings[0].Pointer != "/demand/freeze/until") {
				t.Errorf("%s: %+v, %v", until, warnings, err)
			}
			if _, warnings, err = w.Rules.Update(admin, r.ID, rule.Patch{Name: new("S " + until.String())}); err != nil || len(warnings) != want {
				t.Errorf("%s, renamed: %+v, %v", until, warnings, err)
			}
		}
		if _, warnings, err := w.Rules.Create(admin, rule.New{Name: "R", Demand: gate.Demand{Kind: &gate.Freeze{From: from}}}); err != nil || len(warnings) > 0 {
			t.Errorf("without an end: %+v, %v", warnings, err)
		}
	})
}

func TestARuleThatDemandsItsOwnEnvironmentIsRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		live := func(ids ...string) gate.Demand { return gate.Demand{Kind: &gate.LiveIn{EnvironmentIDs: ids}} }
		_, _, err := w.Rules.Create(admin, rule.New{Name: "R", EnvironmentID: &p.Environment.ID, Demand: live(other.Environment.ID, p.Environment.ID)})
		if got := violated(t, err); got != "/demand/liveIn/environmentIds/1 own_environment" {
			t.Errorf("created: %s", got)
		}
		r, _, err := w.Rules.Create(admin, rule.New{Name: "R", EnvironmentID: &p.Environment.ID, Demand: live(other.Environment.ID)})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = w.Rules.Update(admin, r.ID, rule.Patch{Demand: new(live(p.Environment.ID))})
		if got := violated(t, err); got != "/demand/liveIn/environmentIds/0 own_environment" {
			t.Errorf("updated: %s", got)
		}
	})
}

// Enough could approve, but not of everybody's: those who made an author's token are in one hand with it.
func TestWhoMakesARuleIsToldWhoseDeploymentsTooFewOthersCouldApprove(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin := w.Acme.As(actor.Admin)
		raw := w.Raw(t, w.Acme)
		if _, err := raw.Exec(`UPDATE tokens SET revoked_at = created_at WHERE organization_id = $1`, w.Acme.ID); err != nil {
			t.Fatal(err)
		}
		token := func(by context.Context, name string, holder *string) context.Context {
			t.Helper()
			_, secret, err := w.Accounts.CreateToken(by, account.NewToken{Name: name, Role: actor.Admin, Holder: holder})
			if err != nil {
				t.Fatal(err)
			}
			verified, err := w.Accounts.VerifyToken(t.Context(), secret.Hash())
			if err != nil {
				t.Fatal(err)
			}
			return actor.With(context.Background(), verified.Actor.In(w.Acme.ID))
		}
		warned := func(count int32) string {
			t.Helper()
			r, warnings, err := w.Rules.Create(admin, rule.New{Name: "R", EnvironmentID: &p.Environment.ID, Demand: gate.Demand{
				Kind: &gate.Approvals{Count: count, Role: actor.Developer}}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Rules.End(admin, r.ID, nil); err != nil {
				t.Fatal(err)
			}
			if len(warnings) == 0 {
				return ""
			}
			return warnings[0].Rule + ": " + warnings[0].Message
		}
		machine := actor.With(context.Background(), &actor.Actor{Name: "cli", Role: actor.System, OrganizationID: w.Acme.ID, Channel: actor.CLI})
		ann := token(machine, "ann", new("ann"))
		token(ann, "bot", new("bot"))
		if got := warned(1); !strings.HasSuffix(got, "what these make: ann, bot") {
			t.Errorf("of two in one hand: %q", got)
		}
		token(machine, "cyd", new("cyd"))
		if got := warned(1); got != "" {
			t.Errorf("beside another: %q", got)
		}
		if got := warned(2); !strings.HasSuffix(got, "what these make: ann, bot") {
			t.Errorf("two approvals of three: %q", got)
		}
		if got := warned(4); !strings.Contains(got, "nobody can") {
			t.Errorf("four approvals of three: %q", got)
		}
	})
}

// What a statement reads of the rules in an environment is what is picked among all of them.
func TestRulesBindAnEnvironmentByStatementAsAmongAll(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, places := w.Acme.As(actor.Admin), []*worldtest.Fixture{w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "two")}
		make := func(in rule.New) {
			t.Helper()
			in.Name, in.Demand = "R", gate.Demand{Kind: &gate.Freeze{From: time.Now()}}
			if _, _, err := w.Rules.Create(admin, in); err != nil {
				t.Fatal(err)
			}
		}
		make(rule.New{})
		for _, p := range places {
			make(rule.New{ProjectID: &p.Project.ID})
			make(rule.New{EnvironmentID: &p.Environment.ID})
		}

		all, err := rule.All(admin, w.Store.Query, w.Store.Postgres())
		if err != nil || len(all) != 5 {
			t.Fatalf("%d rules, %v", len(all), err)
		}
		for _, p := range places {
			place := actor.Place{ProjectID: p.Project.ID, EnvironmentID: p.Environment.ID}
			var text *string
			statement := `SELECT ` + rule.InForce(`"e"."organization_id"`, `"e"."project_id"`, `"e"."id"`, w.Store.Postgres()) + ` FROM "environments" AS "e" WHERE "e"."id" = $1`
			if err := w.Store.Query(admin, statement, []any{place.EnvironmentID}, func(row store.Rows) error { return row.Scan(&text) }); err != nil {
				t.Fatal(err)
			}
			selected, err := rule.Decode(admin, text)
			if err != nil {
				t.Fatal(err)
			}
			if among := rule.In(all, place); len(among) != 3 || !slices.EqualFunc(selected, among, func(a, b gate.Rule) bool { return a.ID == b.ID }) {
				t.Errorf("%v by the statement, %v among all", selected, among)
			}
		}
	})
}
