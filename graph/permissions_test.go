package graph_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"slipway/internal/account"
	"slipway/internal/actor"
	"slipway/internal/worldtest"
)

// guide reads the table of docs/access.md: the permissions of each role, and those of no scope.
func guide(t *testing.T) (of map[string][]string, whole []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	of = map[string][]string{}
	var roles []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		switch {
		case len(cells) < 9:
		case strings.TrimSpace(cells[1]) == "permission":
			roles = cells[3:8]
		case strings.Contains(cells[1], "`"):
			name := strings.Trim(cells[1], " `")
			for i, role := range roles {
				if strings.TrimSpace(cells[3+i]) == "yes" {
					of[strings.TrimSpace(role)] = append(of[strings.TrimSpace(role)], name)
				}
			}
			if strings.TrimSpace(cells[8]) == "yes" {
				whole = append(whole, name)
			}
		}
	}
	return of, whole
}

func permissions(t *testing.T, w *worldtest.World, token string) []string {
	t.Helper()
	r := w.GraphQL(t, token, "{ viewer { permissions } }", nil)
	list, _ := r.At(t, "data", "viewer", "permissions").([]any)
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = fmt.Sprint(p)
	}
	slices.Sort(names)
	return names
}

func TestViewerMayDoWhatTheGuideSays(t *testing.T) {
	t.Parallel()
	of, whole := guide(t)
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	for role, token := range w.Acme.Tokens {
		want := slices.Sorted(slices.Values(of[string(role)]))
		if got := permissions(t, w, token); len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", role, got, want)
		}
		scoped := w.Token(t, w.Acme, account.NewToken{Name: "x", Role: role, Scope: &actor.Scope{Projects: []string{p.Project.ID}}})
		want = slices.DeleteFunc(want, func(name string) bool { return slices.Contains(whole, name) })
		if got := permissions(t, w, scoped); !slices.Equal(got, want) {
			t.Errorf("%s with a scope: %v, want %v", role, got, want)
		}
	}
	var all []string
	for _, value := range schema.Types["Permission"].EnumValues {
		all = append(all, value.Name)
	}
	named := slices.Concat(of["superadmin"], of["runner"])
	slices.Sort(all)
	slices.Sort(named)
	if got := slices.Compact(named); !slices.Equal(got, all) {
		t.Errorf("the guide has %v, the schema %v", got, all)
	}
	for _, name := range permissions(t, w, w.Superadmin) {
		if !slices.Contains(of["superadmin"], name) {
			t.Errorf("a superadmin without an organization may %s", name)
		}
	}
}
