package deployment_test

import (
	"regexp"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// TestWritesTakeFewStatements names the statements of writes by their verbs and tables. BEGIN, which sets the
// organization, and COMMIT come on top.
func TestWritesTakeFewStatements(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := p.Succeeded(t)
		developer, runner := w.Acme.As(actor.Developer), w.Acme.As(actor.Runner)
		var active, lease string
		// making notes what a call has made, which the next one cancels or carries out.
		making := func(d *ent.Deployment, err error) error {
			if err == nil {
				active = d.ID
			}
			return err
		}
		create := func(image string, key *string) func() error {
			return func() error {
				return making(worldtest.Unwarned(w.Deploy.Propose.Create(developer, propose.New{
					InstanceID: p.Instance.ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"` + image + `"}`),
					Artifact: strictjson.MustParse(worldtest.Artifact), Request: admission.Request{IdempotencyKey: key},
				})))
			}
		}
		cancel := func() error { return making(w.Deploy.Execution.Cancel(developer, active, nil)) }
		const (
			key      = "SELECT idempotency_keys, "
			validate = "SELECT module_instances, SELECT module_versions, SELECT environments, SELECT projects, " +
				"SELECT organizations, SELECT module_definitions, SELECT input_baselines, SELECT deployments, SELECT releases, "
			place      = "SELECT module_instances, SELECT deployments, SELECT releases, "
			transition = "SELECT deployments, UPDATE deployments, SELECT deployments, "
		)
		for _, c := range []struct {
			what string
			call func() error
			// first are the statements until the last rows are inserted, which PostgreSQL gets as one statement.
			first, rows string
		}{
			{"rollback", func() error {
				return making(worldtest.Unwarned(w.Deploy.Propose.Rollback(developer, propose.Replay{SourceID: target.ID})))
			}, "SELECT deployments, ", "deployments audit_events deployment_changes"},
			{"cancel", cancel, transition, "audit_events deployment_changes"},
			{"redeploy under a key", func() error {
				return making(worldtest.Unwarned(w.Deploy.Propose.Redeploy(developer, propose.Replay{SourceID: target.ID, Request: admission.Request{IdempotencyKey: new("1")}})))
			}, key + "SELECT deployments, ", "deployments idempotency_keys audit_events deployment_changes"},
			{"claim", func() error {
				d, l, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
				if err == nil {
					lease = l.ID
				}
				return making(d, err)
			}, "UPDATE deployments, UPDATE module_instances, SELECT deployments, ", "audit_events deployment_changes"},
			{"complete", func() error {
				return making(w.Deploy.Execution.End(runner, active, lease, execution.Completion{Failure: broken}))
			},
				"SELECT deployments, SELECT module_instances, UPDATE deployments, SELECT deployments, ", "audit_events deployment_changes"},
			{"create", create("web:1", nil), validate + place, "releases deployments given_inputs audit_events deployment_changes"},
			{"cancel what was created", cancel, transition, "audit_events deployment_changes"},
			{"create under a key", create("web:2", new("2")), key + validate + place,
				"releases deployments given_inputs idempotency_keys audit_events deployment_changes"},
		} {
			ran := w.Statements(func() {
				if err := c.call(); err != nil {
					t.Fatalf("%s: %v", c.what, err)
				}
			})
			want := c.first + "INSERT " + c.rows
			if strings.HasSuffix(t.Name(), "sqlite") {
				want = c.first + "INSERT " + strings.ReplaceAll(c.rows, " ", ", INSERT ")
			}
			if got := summary(ran); got != want {
				t.Errorf("%s: %s\nwant %s:\n%s", c.what, got, want, strings.Join(ran, "\n"))
			}
		}
	})
}

var tablesOf = map[string]*regexp.Regexp{
	"SELECT": regexp.MustCompile("^SELECT .*? FROM [\"`]([a-z_]+)"),
	"UPDATE": regexp.MustCompile("^UPDATE [\"`]([a-z_]+)"),
	"DELETE": regexp.MustCompile("^DELETE FROM [\"`]([a-z_]+)"),
	"INSERT": regexp.MustCompile("INSERT INTO [\"`]([a-z_]+)"),
}

var inParentheses = regexp.MustCompile(`\([^()]*\)`)

// summary returns the verbs and the tables of statements.
func summary(ran []string) string {
	var list []string
	for _, text := range ran {
		verb, _, _ := strings.Cut(text, " ")
		if verb == "WITH" {
			verb = "INSERT"
		}
		told := verb
		for verb == "SELECT" && inParentheses.MatchString(text) { // what a subquery reads is not what the statement is over
			text = inParentheses.ReplaceAllString(text, "")
		}
		for _, table := range tablesOf[verb].FindAllStringSubmatch(text, -1) {
			told += " " + table[1]
		}
		list = append(list, told)
	}
	return strings.Join(list, ", ")
}
