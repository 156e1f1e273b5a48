package prooftest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"slipway/internal/test/worldtest"
)

// client sends requests to servers as one caller, over connections that it keeps.
type client struct {
	token string
	http  *http.Client
}

// newClient makes a client with at most so many connections to a server.
func newClient(t *testing.T, token string, conns int) *client {
	t.Helper()
	transport := &http.Transport{MaxConnsPerHost: conns, MaxIdleConnsPerHost: conns, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{token: token, http: &http.Client{Transport: transport}}
}

// answer is what a server answered. Its fields have REST's meaning, whichever surface was asked.
type answer struct {
	status int
	// id is that of the deployment that was made.
	id string
	// code is that of the refusal, blocker the deployment that it names.
	code, blocker string
	body          string
}

// request is one that makes or ends a deployment.
type request struct {
	// source is the deployment to roll back to; cancel the one to cancel instead.
	source, cancel string
	// key is the idempotency key, "" for none; id that of the request, "" for none.
	key, id string
	// graphQL asks over GraphQL.
	graphQL bool
}

const (
	rollbackDocument = `mutation($id: ID!, $key: String) { rollbackDeployment(input: {id: $id, idempotencyKey: $key}) { deployment { id } } }`
	cancelDocument   = `mutation($id: ID!) { cancelDeployment(input: {id: $id}) { deployment { id } } }`
)

// send asks a server. The error is the network's: no answer came.
func (c *client) send(ctx context.Context, url string, q request) (answer, error) {
	path, body := "/deployments/"+q.source+"/rollback", []byte(nil)
	if q.graphQL || q.cancel != "" {
		variables := map[string]any{"id": q.source}
		document := rollbackDocument
		if q.cancel != "" {
			document, variables["id"] = cancelDocument, q.cancel
		} else if q.key != "" {
			variables["key"] = q.key
		}
		path, body = "/graphql", mustJSON(map[string]any{"query": document, "variables": variables})
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if path == "/graphql" {
		r.Header.Set("Content-Type", "application/json")
	} else if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	if q.id != "" {
		r.Header.Set("X-Request-Id", q.id)
	}
	return c.do(r)
}

// post sends a JSON document.
func (c *client) post(ctx context.Context, url string, body []byte) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	return c.do(r)
}

func (c *client) do(r *http.Request) (answer, error) {
	r.Header.Set("Authorization", "Bearer "+c.token)
	got, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return answer{}, err
	}
	return read(got.StatusCode, text), nil
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings encode
	}
	return text
}

// read reads the answer of either surface.
func read(status int, text []byte) answer {
	type refusal struct {
		Code     string
		Metadata struct {
			BlockedBy struct{ DeploymentID string }
		}
	}
	var body struct {
		refusal
		Data struct {
			ID                 string
			RollbackDeployment struct{ Deployment struct{ ID string } }
			CancelDeployment   struct{ Deployment struct{ ID string } }
		}
		Errors []struct{ Extensions refusal }
	}
	a := answer{status: status, body: string(text)}
	if err := json.Unmarshal(text, &body); err != nil {
		a.code = fmt.Sprintf("no JSON: %v", err)
		return a
	}
	why := body.refusal
	if len(body.Errors) > 0 {
		why = body.Errors[0].Extensions
	}
	a.code, a.blocker = why.Code, why.Metadata.BlockedBy.DeploymentID
	a.id = body.Data.ID + body.Data.RollbackDeployment.Deployment.ID + body.Data.CancelDeployment.Deployment.ID
	return a
}

// made reports whether the answer is that of a deployment.
func (a answer) made() bool { return a.id != "" && a.code == "" && a.status < 300 }

// targets makes so many instances, and for each a deployment that has succeeded; it returns their ids.
func targets(t *testing.T, w *worldtest.World, n int) []string {
	t.Helper()
	p := w.Fixture(t, w.Acme, "web")
	ids := make([]string, n)
	for i := range ids {
		instance := p.NewInstance(t, fmt.Sprintf("web-%d", i))
		ids[i] = p.Finish(t, p.Deploy(t, instance.ID, `{"image":"web:1"}`), nil).ID
	}
	return ids
}
