package demo_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/demo"
	"slipway/internal/test/worldtest"
)

func actInTheirRoles(t *testing.T, w *worldtest.World, r *demo.Result) {
	t.Helper()
	for _, role := range actor.Roles {
		var viewer struct {
			Data struct {
				Viewer struct {
					Role         string
					Organization *struct{ Slug string }
				}
			}
		}
		ask(t, w.URL, r.Tokens[role], `{ viewer { role organization { slug } } }`, "", &viewer)
		if got := viewer.Data.Viewer; !strings.EqualFold(got.Role, string(role)) || (got.Organization == nil) != (role == actor.Superadmin) {
			t.Errorf("the token of %s is of %+v", role, got)
		}
	}
}

func TestEveryExampleRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *worldtest.World, r *demo.Result) {
		if len(r.Examples) < 6 {
			t.Errorf("%d examples, want at least 6", len(r.Examples))
		}
		if r.Examples[0].Variables != "" {
			t.Errorf("the first example needs variables: %s", r.Examples[0].Variables)
		}
		named := map[string]bool{}
		for _, e := range r.Examples {
			var answer struct {
				Data   map[string]json.RawMessage
				Errors []struct{ Message string }
			}
			if strings.Contains(e.Query, "deploymentsChanged") {
				e.Variables = sinceAChange(t, w.URL, r.Tokens[actor.Admin]) // it has no answer while nothing changes
			}
			ask(t, w.URL, r.Tokens[actor.Admin], e.Query, e.Variables, &answer)
			if named[e.Name] {
				t.Errorf("two examples are named %q", e.Name)
			}
			named[e.Name] = true
			if len(answer.Errors) > 0 || len(answer.Data) == 0 {
				t.Errorf("%s: %v", e.Name, answer)
			}
			for field, value := range answer.Data {
				if string(value) == "null" || bytes.Contains(value, []byte(`"totalCount":0`)) || bytes.HasPrefix(value, []byte(`{"nodes":[]`)) {
					t.Errorf("%s: %s is empty: %s", e.Name, field, value)
				}
			}
		}
	})
}

// sinceAChange changes a deployment, and returns variables with the cursor of before.
func sinceAChange(t *testing.T, url, token string) (variables string) {
	t.Helper()
	var before struct {
		Data struct {
			Deployments struct {
				FeedCursor string
				Nodes      []struct {
					ID                  string
					RollbackEligibility struct{ Allowed bool }
				}
			}
		}
	}
	ask(t, url, token, `{ deployments(first: 100, filter: {statuses: SUCCEEDED}) { feedCursor nodes { id rollbackEligibility { allowed } } } }`, "", &before)
	for _, d := range slices.Backward(before.Data.Deployments.Nodes) { // examples deploy to the instances of the first
		if d.RollbackEligibility.Allowed {
			var made any
			ask(t, url, token, `mutation($id: ID!) { rollbackDeployment(input: {id: $id}) { deployment { id } } }`, `{"id":"`+d.ID+`"}`, &made)
			return `{"after":"` + before.Data.Deployments.FeedCursor + `"}`
		}
	}
	t.Fatal("nothing can be rolled back to")
	return ""
}

// ask sends a GraphQL request and reads its answer.
func ask(t *testing.T, url, token, query, variables string, answer any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": json.RawMessage(cmp.Or(variables, "null"))})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream;q=0.1")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(firstAnswer(t, response)).Decode(answer); err != nil {
		t.Fatal(err)
	}
}

// firstAnswer is the body, or the first of the answers if it is a stream of them.
func firstAnswer(t *testing.T, response *http.Response) io.Reader {
	t.Helper()
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return response.Body
	}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return strings.NewReader(data)
		}
	}
	t.Fatal("the stream has no answer")
	return nil
}
