package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/remote/client"
)

type madeToken struct {
	ID, Secret, Name, Role, Holder string
	Scope                          *client.TokenScopeRecord
}

// token creates a token by the command, and returns what it shows.
func (h *home) token(t *testing.T, args ...string) (made madeToken) {
	t.Helper()
	out := h.must(t, append([]string{"tokens", "create", "--yes", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return made
}

func TestATokenIsCreatedUsedAndRevokedOverTheAPI(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	admin := s.home(t, s.Acme.Tokens[actor.Admin])
	made := admin.token(t, "--name", "ci", "--role", "DEVELOPER", "--holder", "ann",
		"--project", "shop", "--environment", "shop/production", "--module", "shop,acme/queue")
	if made.Name != "ci" || made.Role != "DEVELOPER" || made.Holder != "ann" || made.Scope == nil {
		t.Fatalf("%+v", made)
	}
	if scope := made.Scope; scope.ProjectIds[0] != s.Project.ID || scope.EnvironmentIds[0] != s.Environment.ID || len(scope.ModuleDefinitionIds) != 2 {
		t.Errorf("%+v", scope)
	}

	holder := s.home(t, made.Secret)
	holder.must(t, "whoami")
	for _, args := range [][]string{{"--role", "DEVELOPER"}, {"--holder", "ann"}, {"--search", "CI"}} {
		if out := admin.must(t, append([]string{"tokens", "list", "-o", "name"}, args...)...); !strings.Contains(out, made.ID) {
			t.Errorf("%v lists %q", args, out)
		}
	}
	if out := admin.must(t, "audit", "--object", made.ID, "--fields", "action,objectId", "-o", "tsv"); out != "createToken\t"+made.ID+"\n" {
		t.Errorf("the audit is %q", out)
	}

	admin.mustFail(t, 2, []string{"--yes"}, "tokens", "revoke", "ci")
	admin.must(t, "tokens", "revoke", "ci", "--yes")
	holder.mustFail(t, 4, []string{"slipway:Request:UNAUTHENTICATED"}, "whoami")
	if out := admin.must(t, "tokens", "list", "-o", "name"); strings.Contains(out, made.ID) {
		t.Errorf("a revoked token is among those that are active: %s", out)
	}
	if out := admin.must(t, "tokens", "list", "--all", "-o", "name"); !strings.Contains(out, made.ID) {
		t.Errorf("a revoked token is not among all: %s", out)
	}
	admin.must(t, "tokens", "revoke", made.ID, "--yes") // revoking twice has no effect
}

func TestTheSecretOfATokenGoesToANewFileOfItsOwner(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	admin := s.home(t, s.Acme.Tokens[actor.Admin])
	file := filepath.Join(t.TempDir(), "ci.token")
	made := admin.token(t, "--name", "ci", "--role", "VIEWER", "--to", file)
	secret, err := os.ReadFile(file)
	info, statErr := os.Stat(file)
	if err != nil || statErr != nil || info.Mode() != 0o600 || made.Secret != "" {
		t.Fatalf("%v %v %v %q", err, statErr, info.Mode(), made.Secret)
	}
	s.home(t, strings.TrimSpace(string(secret))).must(t, "whoami")

	before := s.Rows(t)["tokens"]
	admin.mustFail(t, 2, []string{"--to: want a file that does not exist yet"}, "tokens", "create", "--name", "b", "--role", "VIEWER", "--to", file, "--yes")
	other := filepath.Join(t.TempDir(), "other.token")
	s.home(t, s.Acme.Tokens[actor.Developer]).mustFail(t, 4, []string{"slipway:Token:FORBIDDEN"},
		"tokens", "create", "--name", "b", "--role", "VIEWER", "--to", other, "--yes")
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("a file is left of a token that was refused: %v", err)
	}
	if after := s.Rows(t)["tokens"]; after != before {
		t.Errorf("%d tokens, before %d", after, before)
	}
}

func TestFlagsOfATokenThatAreWrong(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	admin := s.home(t, s.Acme.Tokens[actor.Admin])
	for says, args := range map[string][]string{
		"--name: want the name of the token, found nothing": {"--role", "VIEWER"},
		"--role: want the role of the token, found nothing": {"--name", "x"},
		"--role: want one of":                               {"--name", "x", "--role", "owner"},
		"environment: want PROJECT/ENVIRONMENT, or env_…":   {"--name", "x", "--role", "VIEWER", "--environment", "shop"},
	} {
		admin.mustFail(t, 2, []string{says}, append([]string{"tokens", "create", "--yes"}, args...)...)
	}
	admin.mustFail(t, 2, []string{`token: want the name of an active token, or tok_…, found "nobody"`}, "tokens", "revoke", "nobody", "--yes")
	admin.token(t, "--name", "twice", "--role", "VIEWER")
	admin.token(t, "--name", "twice", "--role", "VIEWER")
	admin.mustFail(t, 5, []string{`several active tokens are named "twice": use an id, tok_`}, "tokens", "revoke", "twice", "--yes")
}

// A second token would be one that nobody knows of.
func TestATokenWhoseAnswerIsLostIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	losing := cutter(t, s.World, func(body string) bool { return strings.Contains(body, "createToken") })
	before := s.Rows(t)["tokens"]
	s.home(t, s.Acme.Tokens[actor.Admin]).at(losing.URL, s.Acme.Tokens[actor.Admin]).mustFail(t, 1,
		[]string{`the token may have been created; see slipway tokens list --search "ci", and revoke it`},
		"tokens", "create", "--name", "ci", "--role", "VIEWER", "--yes")
	if after := s.Rows(t)["tokens"]; after != before+1 {
		t.Errorf("%d tokens, before %d", after, before)
	}
}

func TestApprovalsListsWhatTheTokenCanApprove(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	s.home(t, s.Acme.Tokens[actor.Developer]).run(t, "deploy", "shop/production/web", "--set", "image=web:9", "--reason", "Sale", "--yes", "--wait=false")
	waiting := s.newest(t).ID
	other := s.holder(t, actor.Developer, "bob")
	if out := other.must(t, "approvals"); !strings.Contains(out, waiting) || !strings.Contains(out, "shop/production/web") || !strings.Contains(out, "Sale") {
		t.Errorf("%s", out)
	}
	if out := s.home(t, s.Acme.Tokens[actor.Viewer]).must(t, "approvals", "-o", "name"); out != "" {
		t.Errorf("a viewer is shown %q", out)
	}
	other.must(t, "approve", waiting, "--yes")
	if out := other.must(t, "approvals", "-o", "name"); out != "" {
		t.Errorf("what was approved is shown: %q", out)
	}
}

func TestRulesOfAPlaceAreListed(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.demand(t, approvals(1))
	admin := s.home(t, s.Acme.Tokens[actor.Admin])
	admin.must(t, "environments", "create", "shop/empty", "--yes")
	for place, want := range map[string]string{"shop/production": "two eyes\n", "shop": "two eyes\n", "shop/empty": ""} {
		if out := admin.must(t, "rules", "list", "--in", place, "--fields", "name", "-o", "tsv"); out != want {
			t.Errorf("%s has %q, want %q", place, out, want)
		}
	}
}
