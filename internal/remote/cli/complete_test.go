package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/test/testkit"
)

// completed returns what a shell would offer.
func (h *home) completed(t *testing.T, args ...string) string {
	t.Helper()
	o := h.run(t, append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	return strings.Join(lines[:len(lines)-1], " ")
}

func TestReferencesAreCompletedFromTheServer(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Viewer])
	h.config.Now = time.Now
	for _, test := range []struct{ line, want string }{
		{"projects show ", "shop"},
		{"projects show x", ""},
		{"environments archive sh", "shop/production"},
		{"environments show shop/", "shop/production"},
		{"instances show shop/production/", "shop/production/web"},
		{"destroy ", "shop/production/web"},
		{"deployments show shop/production/w", "shop/production/web@"},
		{"cancel shop/production/web@", "shop/production/web@live shop/production/web@last shop/production/web@previous"},
		{"compare shop/production/web@live shop/production/web@l", "shop/production/web@live shop/production/web@last"},
		{"modules show ", "acme/queue shop"},
		{"modules show shop@1.", "shop@1.5.0-rc.1 shop@1.4.0"},
		{"modules show shop@l", "shop@latest"},
		{"instances create shop/production/x --module ac", "acme/queue"},
		{"instances list --in shop/p", "shop/production"},
		{"deployments list --in shop/production/", "shop/production/web"},
		{"deployments list --status F", "AWAITING_APPROVAL PENDING RUNNING SUCCEEDED FAILED CANCELED"},
		{"deployments list --operation R", "CREATE PROMOTE REDEPLOY ROLLBACK DESTROY"},
		{"projects list -o t", "table json yaml tsv name"},
	} {
		words := strings.Split(test.line, " ")
		if got := h.completed(t, words...); got != test.want {
			t.Errorf("%q is completed by %q, want %q", test.line, got, test.want)
		}
	}
}

func TestInputsAndWhatTheyLetChooseAreCompleted(t *testing.T) {
	t.Parallel()
	m := newModule(t)
	_, _, err := m.Catalog.PublishVersion(m.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: m.instance.ModuleDefinitionID, Version: "2.0.0", Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse(`[
			{"id":"class","type":"string","label":"Class","values":["small","large"]},{"id":"on","type":"boolean","label":"On","default":false},
			{"id":"nodes","type":"number","label":"Nodes","values":[1,3]},{"id":"more","type":"section","label":"More"},{"id":"of","type":"$ref:shop","label":"Of"}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	h := m.home(t, m.Acme.Tokens[actor.Viewer])
	h.config.Now = time.Now
	for _, test := range []struct{ line, want string }{
		{"deploy shop/production/queue --set ", "class= on= nodes= of="},
		{"deploy shop/production/queue --set n", "nodes="},
		{"preview shop/production/queue --set class=", "class=small class=large"},
		{"preview shop/production/queue --set nodes=3", "nodes=3"},
		{"preview shop/production/queue --set on=t", "on=true"},
		{"preview shop/production/queue --set of=shop/", "of=shop/production/queue of=shop/production/web"},
		{"preview shop/production/queue --version 1.0.0 --set s", "size="},
		{"preview shop/production/queue --set nothing=", ""},
		{"preview shop/production/nothing --set ", ""},
		{"preview --set ", ""},
	} {
		if got := h.completed(t, strings.Split(test.line, " ")...); got != test.want {
			t.Errorf("%q is completed by %q, want %q", test.line, got, test.want)
		}
	}
}

func TestCompletionIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"data":{"projects":{"nodes":[{"id":"prj_1","slug":"p%d"}],"pageInfo":{"hasNextPage":false}}}}`, asked.Add(1))
	})
	h := newHome(t).at(s.URL, "slp_secret")
	clock := testkit.NewRunningClock(time.Now)
	h.config.Now = clock.Now
	for _, test := range []struct {
		after       time.Duration
		token, want string
	}{{0, "slp_secret", "p1"}, {0, "slp_other", "p2"}, {25 * time.Second, "slp_secret", "p1"}, {0, "slp_other", "p2"}, {10 * time.Second, "slp_secret", "p3"}} {
		clock.Advance(test.after)
		if got := h.with(map[string]string{"SLIPWAY_TOKEN": test.token}).completed(t, "projects", "show", ""); got != test.want {
			t.Errorf("%s is completed by %q, want %q", test.token, got, test.want)
		}
	}
}

func TestCompletionNeverKeepsAShellWaiting(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := answering(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	refusing := answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	hostile := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":{"projects":{"nodes":[{"id":"prj_1","slug":"a\u001b[31m"}],"pageInfo":{"hasNextPage":false}}}}`)
	})
	for name, server := range map[string]string{"slow": slow.URL, "refusing": refusing.URL, "hostile": hostile.URL, "away": "http://" + testkit.ClosedAddress(t), "elsewhere": "http://slipway.example"} {
		h := newHome(t).at(server, "slp_secret")
		h.config.Patience = patience // it is the time for completion that ends the wait
		begun := time.Now()
		if got := h.completed(t, "projects", "show", ""); got != "" {
			t.Errorf("%s: completed by %q", name, got)
		}
		if took := time.Since(begun); took > patience/2 {
			t.Errorf("%s: took %s", name, took)
		}
	}
}

func TestContextsAreCompleted(t *testing.T) {
	t.Parallel()
	h, s := newHome(t), recording(t)
	for _, name := range []string{"b", "a"} {
		h.typing("slp_x").must(t, "login", "--server", s.url, "--context", name, "--with-token")
	}
	if got := h.completed(t, "context", "use", ""); got != "a b" {
		t.Errorf("completed by %q", got)
	}
}
