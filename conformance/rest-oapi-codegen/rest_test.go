// Package conformance_test uses the REST operations by a client that oapi-codegen makes of the contract that the
// server serves.
package conformance_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"

	api "slipway-conformance-rest/generated"
)

const (
	unknownDefinition = "dvd_01h455vb4pex5vsknk084sn02q"
	unknownDeployment = "dep_01h455vb4pex5vsknk084sn02q"
)

// given is what run.sh says of the demo that it has started.
func given(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run the tests by run.sh", name)
	}
	return value
}

// connect makes a client for the bearer of a token, or for nobody.
func connect(t *testing.T, server, token string) *api.ClientWithResponses {
	t.Helper()
	c, err := api.NewClientWithResponses(server, api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// as makes a client of the demo for a role, "" for nobody.
func as(t *testing.T, role string) *api.ClientWithResponses {
	t.Helper()
	if role == "" {
		return connect(t, given(t, "SLIPWAY_SERVER"), "")
	}
	return connect(t, given(t, "SLIPWAY_SERVER"), given(t, "SLIPWAY_"+strings.ToUpper(role)))
}

// graphql returns the data of an operation that REST has none for.
func graphql(t *testing.T, query string, data any) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": query})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, given(t, "SLIPWAY_SERVER")+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+given(t, "SLIPWAY_ADMIN"))
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &struct{ Data any }{data}); err != nil || strings.Contains(string(text), `"errors"`) {
		t.Fatalf("%v: %s", err, text)
	}
}

func aDefinition(t *testing.T) string {
	t.Helper()
	var found struct {
		DefaultValueDefinitions struct{ Nodes []struct{ ID string } }
	}
	graphql(t, `{ defaultValueDefinitions(first: 1) { nodes { id } } }`, &found)
	return found.DefaultValueDefinitions.Nodes[0].ID
}

func cancel(t *testing.T, id string) {
	t.Helper()
	graphql(t, `mutation { cancelDeployment(input: { id: "`+id+`" }) { deployment { id } } }`, new(any))
}

// as one value, so that the order of members does not count.
func value(t *testing.T, v any) (plain any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

func change(schema api.ModuleInputProperty) api.DefaultValueDefinitionUpdate {
	return api.DefaultValueDefinitionUpdate{Data: api.DefaultValueDefinitionPatch{Schema: &schema}}
}

func TestEveryVariantIsWrittenAndComesBackAsItWas(t *testing.T) {
	c, id := as(t, "admin"), aDefinition(t)
	update := func(body api.DefaultValueDefinitionUpdate, tag string) (*api.DefaultValueDefinition, string) {
		t.Helper()
		params := &api.UpdateDefaultValueDefinitionParams{}
		if tag != "" {
			params.IfMatch = &tag
		}
		r, err := c.UpdateDefaultValueDefinitionWithResponse(t.Context(), id, params, body)
		if err != nil || r.JSON200 == nil {
			t.Fatalf("%v: %d %s", err, r.StatusCode(), r.Body)
		}
		return &r.JSON200.Data, r.HTTPResponse.Header.Get("ETag")
	}
	before, _ := update(api.DefaultValueDefinitionUpdate{}, "")
	kinds := map[reflect.Type]bool{}
	for _, variant := range variants() {
		written, err := read(variant)
		if err != nil {
			t.Fatal(err)
		}
		after, tag := update(change(variant), "")
		got, err := read(after.Schema)
		if err != nil {
			t.Fatal(err)
		}
		kinds[reflect.TypeOf(got)] = true
		if reflect.TypeOf(got) != reflect.TypeOf(written) || !reflect.DeepEqual(value(t, got), value(t, written)) {
			t.Errorf("%T %v came back as %T %v", written, value(t, written), got, value(t, got))
		}
		if again, _ := update(change(after.Schema), tag); !again.UpdatedAt.Equal(after.UpdatedAt) {
			t.Errorf("%T: what was read changes something when it is written", got)
		}
	}
	if len(kinds) != 14 {
		t.Errorf("%d variants were read", len(kinds))
	}
	if after, _ := update(change(before.Schema), ""); !reflect.DeepEqual(value(t, after.Schema), value(t, before.Schema)) {
		t.Errorf("it was %v and is %v", value(t, before.Schema), value(t, after.Schema))
	}
}

func TestTheCatalogueIsReadPageByPage(t *testing.T) {
	c, seen, total := as(t, "admin"), map[string]bool{}, -1
	params := &api.ListModuleDefinitionsParams{Limit: new(3), Status: new(api.ModuleDefinitionStatusACTIVE)}
	for {
		r, err := c.ListModuleDefinitionsWithResponse(t.Context(), params)
		if err != nil || r.JSON200 == nil {
			t.Fatalf("%v: %d %s", err, r.StatusCode(), r.Body)
		}
		for _, d := range r.JSON200.Data {
			seen[d.ID] = true
		}
		total = r.JSON200.Meta.TotalCount
		if r.JSON200.Meta.NextCursor == nil {
			break
		}
		params.Cursor = r.JSON200.Meta.NextCursor
	}
	if len(seen) != total {
		t.Errorf("%d of %d were seen", len(seen), total)
	}
	anyone, err := as(t, "").ListModuleDefinitionsWithResponse(t.Context(), nil)
	if err != nil || anyone.JSON200 == nil || len(anyone.JSON200.Data) == 0 {
		t.Errorf("without a token: %v %s", err, anyone.Body)
	}
}

func TestADeploymentIsReadRolledBackToAndRedeployed(t *testing.T) {
	c, target := as(t, "admin"), given(t, "SLIPWAY_ROLLBACK_TARGET")
	source, err := c.GetDeploymentWithResponse(t.Context(), target, nil)
	if err != nil || source.JSON200 == nil {
		t.Fatalf("%v: %d %s", err, source.StatusCode(), source.Body)
	}
	data, err := source.JSON200.Data.Data.AsEcsDeploymentData()
	if err != nil || data.Type != api.EcsDeploymentDataTypeAwsEcs || *data.DeployedTaskDefinition.Revision < 1 || source.JSON200.Data.CompletedAt.Before(source.JSON200.Data.CreatedAt) {
		t.Errorf("%v: %s", err, source.Body)
	}
	known, err := c.GetDeploymentWithResponse(t.Context(), target, &api.GetDeploymentParams{IfNoneMatch: new(source.HTTPResponse.Header.Get("ETag"))})
	if err != nil || known.StatusCode() != http.StatusNotModified || known.JSON200 != nil {
		t.Errorf("%v: %d %s", err, known.StatusCode(), known.Body)
	}

	rolled, err := c.RollbackDeploymentWithResponse(t.Context(), target, &api.RollbackDeploymentParams{IdempotencyKey: new(rand.Text())})
	if err != nil || rolled.JSON201 == nil || *rolled.JSON201.Data.RollbackToDeploymentID != target {
		t.Fatalf("%v: %s", err, rolled.Body)
	}
	created(t, c, rolled.HTTPResponse, rolled.JSON201.Data.ID)
	redeployed, err := c.RedeployDeploymentWithResponse(t.Context(), target, nil)
	if err != nil || redeployed.JSON201 == nil || *redeployed.JSON201.Data.RedeployOfDeploymentID != target {
		t.Fatalf("%v: %s", err, redeployed.Body)
	}
	created(t, c, redeployed.HTTPResponse, redeployed.JSON201.Data.ID)
}

// created cancels a deployment that was created, which Location leads to.
func created(t *testing.T, c *api.ClientWithResponses, r *http.Response, id string) {
	t.Helper()
	location, err := r.Location()
	if want, _ := url.JoinPath(given(t, "SLIPWAY_SERVER"), "deployments", id); err != nil || location.String() != want {
		t.Errorf("%v: Location %v, want %s", err, location, want)
	}
	cancel(t, id)
	ended, err := c.GetDeploymentWithResponse(t.Context(), id, nil)
	if err != nil || ended.JSON200 == nil || ended.JSON200.Data.Error == nil || ended.JSON200.Data.Error.Code != "slipway:Deployment:CANCELED" {
		t.Errorf("%v: %s", err, ended.Body)
	}
}

// answer is what every answer has.
type answer interface {
	StatusCode() int
	GetBody() []byte
}

// refused asserts that an answer is a refusal that was decoded where the status belongs.
func refused(t *testing.T, r answer, got *api.UserFacingErrorData, err error, status int, code string) {
	t.Helper()
	if err != nil || r.StatusCode() != status || got == nil || got.Code != code || got.Message == "" || got.RequestID == nil {
		t.Errorf("%v: %d %s, want %d %s", err, r.StatusCode(), r.GetBody(), status, code)
	}
}

// header changes one header of a request, or its host or method.
func header(name, value string) api.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		switch name {
		case "Host":
			r.Host = value
		case "Method":
			r.Method = value
		default:
			r.Header.Set(name, value)
		}
		return nil
	}
}
