package server_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/service/account"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

// guided returns the documents of the guide to release control by their names.
func guided(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/release-control.md")
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```graphql\n(?:mutation|query) (\\w+).*?\n```").FindAllStringSubmatch(string(text), -1) {
		documents[block[1]] = strings.TrimSuffix(strings.TrimPrefix(block[0], "```graphql\n"), "\n```")
	}
	return documents
}

// setUp is a world in which a set-up of the guide is made, and what sends the guide's documents.
type setUp struct {
	*worldtest.World
	p                *worldtest.Fixture
	admin, developer string
	send             func(name, token string, variables map[string]any) worldtest.Response
}

// of are the variables of a deployment of the set-up's instance.
func (s *setUp) of() map[string]any {
	return map[string]any{"instance": s.p.Instance.ID, "version": s.p.Version.ID}
}

// eachSetUp has a set-up tried on each database.
func eachSetUp(t *testing.T, try func(t *testing.T, s *setUp)) {
	t.Helper()
	documents := guided(t)
	if len(documents) != 8 {
		t.Fatalf("%d documents", len(documents))
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		send := func(name, token string, variables map[string]any) worldtest.Response {
			return w.GraphQL(t, token, documents[name], variables)
		}
		try(t, &setUp{w, w.Fixture(t, w.Acme, "production"), w.Acme.Tokens[actor.Admin], w.Acme.Tokens[actor.Developer], send})
	})
}

func TestFourEyesOfTheGuideToReleaseControl(t *testing.T) {
	t.Parallel()
	eachSetUp(t, func(t *testing.T, s *setUp) {
		if r := s.send("FourEyes", s.admin, map[string]any{"production": s.p.Environment.ID}); r.At(t, "errors") != nil {
			t.Fatalf("%s", r.Body)
		}
		made := s.send("Deploy", s.developer, s.of())
		if made.Text(t, "data", "createDeployment", "deployment", "status") != "AWAITING_APPROVAL" {
			t.Fatalf("%s", made.Body)
		}
		id := map[string]any{"deployment": made.Text(t, "data", "createDeployment", "deployment", "id")}
		if r := s.send("Approve", s.developer, id); r.Code(t) != "slipway:Deployment:OWN_APPROVAL" {
			t.Errorf("by the author: %s", r.Body)
		}
		other := s.Token(t, s.Acme, account.NewToken{Name: "bob-laptop", Role: actor.Developer, Holder: new("bob")})
		if r := s.send("Approve", other, id); r.At(t, "data", "approveDeployment", "started") != true || r.Text(t, "data", "approveDeployment", "deployment", "status") != "PENDING" {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestStagingFirstOfTheGuideToReleaseControl(t *testing.T) {
	t.Parallel()
	eachSetUp(t, func(t *testing.T, s *setUp) {
		staging := s.Fixture(t, s.Acme, "staging")
		if r := s.send("StagingFirst", s.admin, map[string]any{"production": s.p.Environment.ID, "staging": staging.Environment.ID}); r.At(t, "errors") != nil {
			t.Fatalf("%s", r.Body)
		}
		if r := s.send("Deploy", s.developer, s.of()); r.Code(t) != "slipway:Deployment:NOT_PROMOTED" {
			t.Errorf("%s", r.Body)
		}
		there, err := s.Catalog.CreateInstance(s.Acme.As(actor.Admin), catalog.NewInstance{EnvironmentID: staging.Environment.ID, DefinitionID: s.p.Definition.ID, Name: "there"})
		if err != nil {
			t.Fatal(err)
		}
		live := s.p.Finish(t, s.p.Deploy(t, there.ID, `{"image":"web:2"}`), nil)
		r := s.send("Promote", s.developer, map[string]any{"source": live.ID, "instance": s.p.Instance.ID})
		if r.At(t, "errors") != nil || r.Text(t, "data", "promoteDeployment", "deployment", "status") != "PENDING" || r.Text(t, "data", "promoteDeployment", "deployment", "promotedFrom", "id") != live.ID {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestAFreezeOfTheGuideToReleaseControl(t *testing.T) {
	t.Parallel()
	eachSetUp(t, func(t *testing.T, s *setUp) {
		if r := s.send("Holidays", s.admin, map[string]any{"production": s.p.Environment.ID}); r.At(t, "errors") != nil {
			t.Fatalf("%s", r.Body)
		}
		if r := s.send("Deploy", s.developer, s.of()); r.Code(t) != "slipway:Environment:CLOSED" {
			t.Errorf("%s", r.Body)
		}
		if r := s.send("Emergency", s.admin, s.of()); r.Text(t, "data", "createDeployment", "deployment", "status") != "PENDING" {
			t.Errorf("%s", r.Body)
		}
		if r := s.send("Review", s.admin, nil); r.Text(t, "data", "deployments", "nodes", 0, "override", "reason") != "The checkout is down since 10:02" {
			t.Errorf("%s", r.Body)
		}
	})
}
