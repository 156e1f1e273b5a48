package inputvalidation_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

// ported has an immutable input that can be hidden, and items that have one.
var ported = "[" + input("public", "boolean", `"default":true`) + "," +
	input("host", "string", `"immutable":true,"show_when":{"public":true}`) + "," +
	input("services", "object_map", `"item_inputs":[`+input("port", "number", `"immutable":true`)+`]`) + "]"

// rolledBack carries out a rollback to a deployment.
func rolledBack(t *testing.T, w *worldtest.World, p *worldtest.Fixture, to *ent.Deployment) {
	t.Helper()
	d, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: to.ID})
	if err != nil {
		t.Fatal(err)
	}
	p.Finish(t, d, nil)
}

func TestImmutableInputsStayWhileTheyAreHidden(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", ported)
		first := live(t, w, p, v, `{"host":"a","services":{"x":{"port":1},"y":{"port":2}}}`)
		wanted := func(what, values string, want ...string) {
			t.Helper()
			got, _ := refused(t, w, p, v, values)
			wants(t, what, got, want...)
		}
		wanted("hidden, and an item gone", `{"public":false,"services":{"x":{"port":1}}}`)
		live(t, w, p, v, `{"public":false,"services":{"x":{"port":1}}}`)
		live(t, w, p, v, `{"public":false,"services":{"x":{"port":1}}}`)
		wanted("back changed", `{"host":"b","services":{"x":{"port":3},"y":{"port":4}}}`, "/host immutable", "/services/x/port immutable")
		wanted("back as it was, an item of a key that was forgotten", `{"host":"a","services":{"y":{"port":4}}}`)

		// What fails binds nothing.
		failed, err := created(w.Acme.As(actor.Developer), w, p.Instance.ID, v.ID, `{"services":{"y":{"port":5}}}`)
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, failed, &fault.Data{Code: string(fault.DeploymentFailed), Message: "no"})
		wanted("after a failure", `{"services":{"y":{"port":6}}}`)
		same(t, stored(t, w, failed), `{"host":"a","public":true,"services":{"y":{"port":5}}}`)

		// A rollback that succeeds is the last success that had what it has.
		live(t, w, p, v, `{"services":{"y":{"port":7}}}`)
		rolledBack(t, w, p, first)
		wanted("after a rollback", `{"services":{"x":{"port":8},"y":{"port":7}}}`, "/services/x/port immutable", "/services/y/port immutable")
	})
}

func TestRollbackBindsWhatItsReleaseHasAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", ported)
		free := version(t, w, p, "1.9.0", strings.ReplaceAll(ported, `"immutable":true,`, ""))
		hidden := live(t, w, p, v, `{"public":false}`)
		old := live(t, w, p, free, `{"host":"old"}`)
		live(t, w, p, free, `{"host":"new"}`)
		live(t, w, p, v, `{}`)
		for _, step := range []struct {
			to   *ent.Deployment
			host string
		}{{hidden, "new"}, {old, "old"}, {hidden, "old"}} {
			rolledBack(t, w, p, step.to)
			for _, host := range []string{"new", "old"} {
				var want []string
				if host != step.host {
					want = []string{"/host immutable"}
				}
				got, _ := refused(t, w, p, v, fmt.Sprintf(`{"host":%q}`, host))
				wants(t, "host "+host+", where it was "+step.host, got, want...)
			}
		}
	})
}

func TestInstancesOfBeforeAreCaughtUpWith(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", ported)
		live(t, w, p, v, `{"host":"a","services":{"x":{"port":1},"y":{"port":2}}}`)
		for range 25 { // more than one transaction looks at
			live(t, w, p, v, `{"public":false,"services":{"x":{"port":1}}}`)
		}
		check := func(what string) {
			t.Helper()
			got, _ := refused(t, w, p, v, `{"host":"b","services":{"x":{"port":3},"y":{"port":4}}}`)
			wants(t, what, got, "/host immutable", "/services/x/port immutable")
			got, _ = refused(t, w, p, v, `{"services":{"y":{"port":4}}}`)
			wants(t, what, got)
		}
		check("written as it succeeded")
		db := w.Raw(t, w.Acme)
		run := func(statement string, args ...any) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
				t.Fatal(err)
			}
		}
		run(`DELETE FROM input_baselines`)
		check("from a database of before")
		rows := w.Rows(t)["input_baselines"]
		again := w.Statements(func() { check("once more") })
		for _, statement := range again {
			if strings.Contains(statement, "input_baselines") && !strings.HasPrefix(statement, "SELECT") {
				t.Errorf("what was caught up with was written again: %s", statement)
			}
		}
		if rows != 1 || w.Rows(t)["input_baselines"] != 1 {
			t.Errorf("%d baselines", rows)
		}

		// A server of before carries out a success beside this one.
		var content, of string
		if err := db.QueryRowContext(t.Context(), `SELECT content, deployment_id FROM input_baselines`).Scan(&content, &of); err != nil {
			t.Fatal(err)
		}
		live(t, w, p, v, `{"services":{"z":{"port":9}}}`)
		run(`UPDATE input_baselines SET content = $1, deployment_id = $2`, content, of)
		got, _ := refused(t, w, p, v, `{"services":{"x":{"port":3},"z":{"port":8}}}`)
		wants(t, "after a success that was not noted", got, "/services/z/port immutable")

		// A success that finds the baseline behind leaves it to the next who asks.
		run(`UPDATE input_baselines SET content = $1, deployment_id = $2`, content, of)
		d, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: of})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, d, nil)
		got, _ = refused(t, w, p, v, `{"services":{"x":{"port":3},"z":{"port":8}}}`)
		wants(t, "after a success on a baseline that was behind", got, "/services/x/port immutable")
	})
}

func TestAnInstanceOfBeforeIsCaughtUpWithByManyAtOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", ported)
		live(t, w, p, v, `{"host":"a"}`)
		question := inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(`{"host":"b"}`)}
		for range 5 {
			if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `DELETE FROM input_baselines`); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for range 16 {
				all.Go(func() {
					found, err := w.Inputs.Validate(w.Acme.As(actor.Viewer), question)
					if err != nil {
						t.Error(err)
						return
					}
					wants(t, "at once", broken(found.Violations), "/host immutable")
				})
			}
			all.Wait()
		}
		if rows := w.Rows(t)["input_baselines"]; rows != 1 {
			t.Errorf("%d baselines", rows)
		}
	})
}

func TestBaselinesAreOfOneInstanceEach(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", ported)
		live(t, w, p, v, `{"host":"a"}`)
		other := p.NewInstance(t, "other")
		d, err := created(w.Acme.As(actor.Developer), w, other.ID, v.ID, `{"host":"b"}`)
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, d, nil)
		got, _ := refused(t, w, p, v, `{"host":"b"}`)
		wants(t, "another instance's value", got, "/host immutable")
	})
}

func TestMessagesOfImmutableInputsRepeatNoSecret(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	v := version(t, w, p, "2.0.0", "["+input("db_password", "string", `"immutable":true`)+","+input("settings", "object", `"immutable":true`)+"]")
	live(t, w, p, v, `{"db_password":"hunter2","settings":{"api_token":"hunter2"}}`)
	got, violations := refused(t, w, p, v, `{"db_password":"hunter3","settings":{"api_token":"hunter3"}}`)
	wants(t, "changed", got, "/db_password immutable", "/settings immutable")
	if said := fmt.Sprint(violations); strings.Contains(said, "hunter") {
		t.Errorf("a secret is repeated: %s", said)
	}
}
