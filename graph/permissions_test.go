package graph_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/edge/httpx"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

// permissions asks a server what a token may do if the request names an organization, "" for none.
func permissions(t *testing.T, w *worldtest.World, token, organization string) []string {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": "{ viewer { permissions } }"})
	r := w.REST(t, http.MethodPost, "/graphql", token, string(body), map[string]string{httpx.OrganizationHeader: organization})
	list, _ := r.At(t, "data", "viewer", "permissions").([]any)
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = fmt.Sprint(p)
	}
	return names
}

// superadminCell says where a superadmin may do something: in an organization, under the name global, without either.
func superadminCell(inOne, underGlobal, unnamed bool) string {
	var where []string
	if inOne {
		where = append(where, "an organization")
	}
	if underGlobal {
		where = append(where, "`global`")
	}
	if unnamed {
		where = append(where, "none")
	}
	return strings.Join(where, ", ")
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// accessTable writes the table of docs/access.md from what a server answers, with the texts of the schema.
func accessTable(t *testing.T) string {
	t.Helper()
	w := worldtest.New(t, worldtest.SQLite(t))
	fixture := w.Fixture(t, w.Acme, "web")
	scope := &actor.Scope{Projects: []string{fixture.Project.ID}, ModuleDefinitions: []string{fixture.Definition.ID}}
	may, scoped := map[actor.Role][]string{}, map[actor.Role][]string{}
	for role, token := range w.Acme.Tokens {
		may[role] = permissions(t, w, token, "")
		scoped[role] = permissions(t, w, w.Token(t, w.Acme, account.NewToken{Name: "x", Role: role, Scope: scope}), "")
	}
	inOne, underGlobal, unnamed := permissions(t, w, w.Superadmin, w.Acme.Slug), permissions(t, w, w.Superadmin, actor.Global), permissions(t, w, w.Superadmin, "")

	head := []string{"permission", "what"}
	for _, role := range actor.Roles {
		head = append(head, string(role))
	}
	head = append(head, "with a scope")
	table := [][]string{head}
	for _, permission := range schema.Types["Permission"].EnumValues {
		name := permission.Name
		row := []string{"`" + name + "`", permission.Description}
		ofAnyRole, ofAnyScoped := false, false
		for _, role := range actor.Roles {
			has := slices.Contains(may[role], name)
			ofAnyRole = ofAnyRole || has
			hasScoped := slices.Contains(scoped[role], name)
			ofAnyScoped = ofAnyScoped || hasScoped
			if hasScoped && !has {
				row = append(row, "with a scope")
			} else if role == actor.Superadmin {
				row = append(row, superadminCell(slices.Contains(inOne, name), slices.Contains(underGlobal, name), slices.Contains(unnamed, name)))
			} else {
				row = append(row, yes(has))
			}
		}
		last := yes(ofAnyScoped)
		if ofAnyRole && last == "" {
			last = "no"
		}
		table = append(table, append(row, last))
	}
	return markdown(table)
}

// markdown writes a table, whose first row is its head.
func markdown(table [][]string) string {
	var b strings.Builder
	for i, row := range table {
		for _, cell := range row {
			b.WriteString(strings.TrimRight("| "+cell, " ") + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

func TestAccessGuideHasWhatEachRoleMayDo(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := accessTable(t); !strings.Contains(string(page), "\n\n"+want+"\n") {
		t.Errorf("the table of docs/access.md is another one; what the server allows:\n\n%s", want)
	}
}
