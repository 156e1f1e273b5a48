package rest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/test/worldtest"
)

// step is one exchange whose text is kept in testdata.
type step struct {
	name string
	exchange
}

// play asks in order and compares each exchange with its file.
func play(t *testing.T, w *worldtest.World, operation string, steps []step) {
	t.Helper()
	for _, s := range steps {
		golden(t, w, operation+"/"+s.name, s.exchange, ask(t, w, s.exchange))
	}
}

func TestEveryAnswerIsAsItWas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		play(t, w, "updateDefaultValueDefinition", s.updating())
		play(t, w, "listModuleDefinitions", s.listing(t))
		play(t, w, "getDeployment", s.reading())
		play(t, w, "rollbackDeployment", s.rollingBack())
		play(t, w, "redeployDeployment", s.redeploying())
		play(t, w, "receiveEcsEvent", s.receiving())
		play(t, w, "elsewhere", []step{
			{"404", exchange{method: http.MethodGet, path: "/nowhere"}},
			{"405", exchange{method: http.MethodDelete, path: "/openapi.json"}},
		})
	})
}

// in are the headers of a request that names an organization.
func in(organization string) map[string]string {
	return map[string]string{"Slipway-Organization": organization}
}

// common are the refusals that do not depend on what an operation does.
func (s *stage) common(e exchange) []step {
	with := func(change func(*exchange)) exchange {
		changed := e
		change(&changed)
		return changed
	}
	header := func(name, value string) exchange {
		return with(func(e *exchange) { e.body, e.headers = "{}", map[string]string{name: value} })
	}
	return []step{
		{"400-unknown-parameter", with(func(e *exchange) { e.path += "?dryRun=true" })},
		{"401-unknown-token", with(func(e *exchange) { e.token = "slipway_pat_unknown" })},
		{"405", with(func(e *exchange) { e.method = http.MethodPut })},
		{"406", header("Accept", "text/html, application/json;q=0")},
		{"413", with(func(e *exchange) { e.body = strings.Repeat(" ", 256<<10) + "{}" })},
		{"415", header("Content-Type", "text/plain")},
		{"415-form", header("Content-Type", "application/x-www-form-urlencoded")},
	}
}

func (s *stage) updating() []step {
	token := s.Acme.Tokens[actor.Admin]
	path := func(id string) string { return "/default-value-definitions/" + id }
	on := func(id, token, body string, headers map[string]string) exchange {
		return exchange{http.MethodPatch, path(id), token, body, headers}
	}
	mine := s.definition.ID
	full := `{"data":{"name":"Engine","description":"Which engine.","schema":{"id":"engine","label":"Engine","type":"number","min":1,"max":9,"default":1e0}}}`
	crossed := `{"data":{"schema":{"id":"n","label":"N","type":"number","min":9,"max":1}}}`
	steps := []step{
		{"200", on(mine, token, full, nil)},
		{"200-nothing", on(mine, token, `{"data":{}}`, nil)},
		{"200-if-match", on(mine, token, `{"data":{"description":""}}`, map[string]string{"If-Match": `"v1", "v2"`})},
		{"400-not-json", on(mine, token, `{"data":{"name":"a","name":"b"}}`, nil)},
		{"400-no-body", on(mine, token, "", nil)},
		{"400-undeclared", on(mine, token, `{"dat":1,"data":{"id":"x","givenID":"y","nam":3,"name":"","description":null,"schema":{"id":"","type":"strng"}}}`, nil)},
		{"400-schema", on(mine, token, `{"data":{"name":"","schema":{"id":"m","label":"","type":"object_map","item_inputs":[{"id":"a","label":"A","type":"string","patterns":[{"patern":"x"}]}]}}}`, nil)},
		{"200-superadmin", on(mine, s.Superadmin, `{"data":{}}`, in("acme"))},
		{"400-no-organization", on(mine, s.Superadmin, full, nil)},
		{"400-two-organizations", on(mine, token, full, in("acme, globex"))},
		{"401", on(mine, "", full, nil)},
		{"403", on(mine, s.Acme.Tokens[actor.Viewer], full, nil)},
		{"404-unknown", on(id.New(id.DefaultValueDefinition), token, full, nil)},
		{"404-foreign", on(s.others.ID, token, full, nil)},
		{"404-foreign-organization", on(s.others.ID, token, full, in("globex"))},
		{"412", on(mine, token, full, map[string]string{"If-Match": `"v1"`})},
		{"422", on(mine, token, crossed, nil)},
	}
	return append(steps, s.common(on(mine, token, full, nil))...)
}

func (s *stage) listing(t *testing.T) []step {
	get := func(token, query string) exchange {
		return exchange{method: http.MethodGet, path: "/module-definitions" + query, token: token}
	}
	organized := func(e exchange, organization string) exchange {
		e.headers = in(organization)
		return e
	}
	token := s.Acme.Tokens[actor.Viewer]
	cursor := ask(t, s.World, get(token, "?limit=1")).Text(t, "meta", "nextCursor")
	steps := []step{
		{"200", get(token, "")},
		{"200-first-page", get(token, "?limit=1")},
		{"200-last-page", get(token, "?limit=3&cursor="+cursor)},
		{"200-draft", get(token, "?status=DRAFT")},
		{"200-anonymous", get("", "")},
		{"200-anonymous-draft", get("", "?status=DRAFT")},
		{"200-superadmin", organized(get(s.Superadmin, ""), "acme")},
		{"200-global", organized(get(s.Superadmin, ""), "global")},
		{"401-anonymous-in-an-organization", organized(get("", ""), "acme")},
		{"403-foreign-organization", organized(get(token, ""), "globex")},
		{"400-out-of-range", get(token, "?status=active&limit=101")},
		{"400-everything-at-once", get(token, "?status=active&limit=101&dryRun=true")},
		{"400-repeated-and-empty", get(token, "?limit=1&limit=2&status=")},
		{"400-cursor", get(token, "?status=ACTIVE&cursor="+cursor)},
		{"400-cursor-of-another", get(s.Globex.Tokens[actor.Viewer], "?limit=1&cursor="+cursor)},
		{"400-body", exchange{http.MethodGet, "/module-definitions", token, `[]`, nil}},
	}
	return append(steps, s.common(get(token, ""))...)
}

func (s *stage) reading() []step {
	get := func(id, token string, headers map[string]string) exchange {
		return exchange{method: http.MethodGet, path: "/deployments/" + id, token: token, headers: headers}
	}
	token := s.Acme.Tokens[actor.Viewer]
	steps := []step{
		{"200", get(s.succeeded.ID, token, nil)},
		{"200-failed", get(s.failed.ID, token, nil)},
		{"200-pending", get(s.pending.ID, token, nil)},
		{"304", get(s.failed.ID, token, map[string]string{"If-None-Match": `"v3"`})},
		{"200-superadmin", get(s.failed.ID, s.Superadmin, in(s.Acme.ID))},
		{"400-no-organization", get(s.failed.ID, s.Superadmin, nil)},
		{"400-global", get(s.failed.ID, s.Superadmin, in("global"))},
		{"401", get(s.failed.ID, "", nil)},
		{"404-unknown", get(id.New(id.Deployment), token, nil)},
		{"404-foreign", get(s.foreign.ID, token, nil)},
		{"404-foreign-organization", get(s.foreign.ID, token, in(s.Globex.ID))},
	}
	return append(steps, s.common(get(s.failed.ID, token, nil))...)
}

func (s *stage) rollingBack() []step {
	return append([]step{{"422-not-succeeded", s.replay("rollback", s.failed.ID, actor.Developer)}},
		s.replaying("rollback", s.succeeded.ID)...)
}

func (s *stage) redeploying() []step {
	return append(s.replaying("redeploy", s.spare.ID), step{"201-failed", s.replay("redeploy", s.failed.ID, actor.Developer)})
}

func (s *stage) replay(verb, id string, role actor.Role) exchange {
	return exchange{method: http.MethodPost, path: "/deployments/" + id + "/" + verb, token: s.Acme.Tokens[role]}
}

func (s *stage) replaying(verb, source string) []step {
	anonymous := s.replay(verb, source, "")
	body := s.replay(verb, source, actor.Developer)
	body.body = `{"description":"mine"}`
	elsewhere := s.replay(verb, s.foreign.ID, actor.Developer)
	elsewhere.headers = in("globex")
	steps := []step{
		{"201", s.replay(verb, source, actor.Developer)},
		{"400-body", body},
		{"401", anonymous},
		{"403", s.replay(verb, source, actor.Viewer)},
		{"404-unknown", s.replay(verb, id.New(id.Deployment), actor.Developer)},
		{"404-foreign", s.replay(verb, s.foreign.ID, actor.Developer)},
		{"404-foreign-organization", elsewhere},
		{"409", s.replay(verb, s.busy.ID, actor.Developer)},
		{"422-release-lost", s.replay(verb, s.lost.ID, actor.Developer)},
		{"422-release-forged", s.replay(verb, s.forged.ID, actor.Developer)},
	}
	return append(steps, s.common(s.replay(verb, source, actor.Developer))...)
}

func (s *stage) receiving() []step {
	on := func(token, body string) exchange {
		return exchange{http.MethodPost, "/integrations/ecs/events", token, body, nil}
	}
	token := s.Acme.Tokens[actor.Runner]
	start := strings.NewReplacer("af3c496d", "ddca6449", "ECS Service Action", "ECS Deployment State Change", "SERVICE_STEADY_STATE", "SERVICE_DEPLOYMENT_IN_PROGRESS",
		`"createdAt"`, `"deploymentId":"ecs-svc/1234567890123456789","reason":"ECS deployment ecs-svc/1234567890123456789 in progress.","updatedAt"`).Replace(steadyState)
	task := strings.Replace(steadyState, "ECS Service Action", "ECS Moon Phase Change", 1)
	none := strings.Replace(start, `"deploymentId":"ecs-svc/1234567890123456789",`, "", 1)
	elsewhere := on(token, steadyState)
	elsewhere.headers = in("globex")
	steps := []step{
		{"202", on(token, steadyState)},
		{"202-again", on(token, steadyState)},
		{"202-start", on(token, start)},
		{"400-not-json", on(token, `{"id":"1","id":"2"}`)},
		{"400-no-body", on(token, "")},
		{"400-no-event", on(token, `{"data":{}}`)},
		{"400-wrong-types", on(token, `{"id":1,"detail-type":"ECS Service Action","time":"now","resources":"web","detail":{"eventName":"SERVICE_STEADY_STATE","hookId":{}}}`)},
		{"400-another-kind", on(token, task)},
		{"400-no-deployment", on(token, none)},
		{"400-no-service", on(token, strings.ReplaceAll(steadyState, ":service/", ":cluster/"))},
		{"400-too-old", on(token, eventTime.ReplaceAllString(steadyState, `"time":"2020-01-01T00:00:00Z"`))},
		{"401", on("", steadyState)},
		{"403", on(s.Acme.Tokens[actor.Developer], steadyState)},
		{"404-foreign-organization", elsewhere},
	}
	return append(steps, s.common(on(token, steadyState))...)
}

var eventTime = regexp.MustCompile(`"time":"[^"]*"`)
