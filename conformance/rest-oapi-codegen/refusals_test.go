package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"testing"

	api "slipway-conformance-rest/generated"
)

const notAcceptable = "slipway:Request:NOT_ACCEPTABLE"

func TestWhatPATCHRefuses(t *testing.T) {
	id, nothing := aDefinition(t), api.DefaultValueDefinitionUpdate{}
	ask := func(role, id string, body api.DefaultValueDefinitionUpdate, edit ...api.RequestEditorFn) (*api.UpdateDefaultValueDefinitionResponse, error) {
		return as(t, role).UpdateDefaultValueDefinitionWithResponse(t.Context(), id, nil, body, edit...)
	}
	named := func(name string) api.DefaultValueDefinitionUpdate {
		return api.DefaultValueDefinitionUpdate{Data: api.DefaultValueDefinitionPatch{Name: &name}}
	}
	r, err := ask("admin", id, named(""))
	refused(t, r, r.JSON400, err, 400, "slipway:Request:INVALID")
	r, err = ask("", id, nothing)
	refused(t, r, r.JSON401, err, 401, "slipway:Request:UNAUTHENTICATED")
	r, err = ask("viewer", id, named("N"))
	refused(t, r, r.JSON403, err, 403, "slipway:DefaultValueDefinition:FORBIDDEN")
	r, err = ask("admin", unknownDefinition, nothing)
	refused(t, r, r.JSON404, err, 404, "slipway:DefaultValueDefinition:NOT_FOUND")
	r, err = ask("admin", id, nothing, header("Method", http.MethodPut))
	refused(t, r, r.JSON405, err, 405, "slipway:Request:METHOD_NOT_ALLOWED")
	r, err = ask("admin", id, nothing, header("Accept", "text/html"))
	refused(t, r, r.JSON406, err, 406, notAcceptable)
	r, err = ask("admin", id, nothing, header("If-Match", `"v999"`))
	refused(t, r, r.JSON412, err, 412, "slipway:Request:PRECONDITION_FAILED")
	r, err = ask("admin", id, named(strings.Repeat("n", 300_000)))
	refused(t, r, r.JSON413, err, 413, "slipway:Request:TOO_LARGE")
	r, err = ask("admin", id, nothing, header("Content-Type", "text/plain"))
	refused(t, r, r.JSON415, err, 415, "slipway:Request:UNSUPPORTED_MEDIA_TYPE")
	r, err = ask("admin", id, nothing, header("Host", "slipway.example"))
	refused(t, r, r.JSON421, err, 421, "slipway:Request:HOST_REFUSED")
	crossed := plain((*api.ModulePlainInputProperty).FromModuleNumberInputProperty, api.ModuleNumberInputProperty{ID: "a", Label: "A", Min: new(int32(2)), Max: new(int32(1))})
	r, err = ask("admin", id, change(crossed))
	refused(t, r, r.JSON422, err, 422, "slipway:DefaultValueDefinition:RULE_BROKEN")
	limited(t, func(c *api.ClientWithResponses) (answer, *http.Response, *api.UserFacingErrorData, error) {
		r, err := c.UpdateDefaultValueDefinitionWithResponse(t.Context(), unknownDefinition, nil, nothing)
		return r, r.HTTPResponse, r.JSON429, err
	})
}

func TestWhatTheListRefuses(t *testing.T) {
	ask := func(role string, params api.ListModuleDefinitionsParams, edit ...api.RequestEditorFn) (*api.ListModuleDefinitionsResponse, error) {
		return as(t, role).ListModuleDefinitionsWithResponse(t.Context(), &params, edit...)
	}
	r, err := ask("admin", api.ListModuleDefinitionsParams{Limit: new(101)})
	refused(t, r, r.JSON400, err, 400, "slipway:Request:INVALID")
	r, err = ask("", api.ListModuleDefinitionsParams{}, header("Authorization", "Bearer x"))
	refused(t, r, r.JSON401, err, 401, "slipway:Request:UNAUTHENTICATED")
	r, err = ask("admin", api.ListModuleDefinitionsParams{SlipwayOrganization: new("elsewhere")})
	refused(t, r, r.JSON403, err, 403, "slipway:Request:FORBIDDEN")
	r, err = ask("admin", api.ListModuleDefinitionsParams{}, header("Method", http.MethodDelete))
	refused(t, r, r.JSON405, err, 405, "slipway:Request:METHOD_NOT_ALLOWED")
	r, err = ask("admin", api.ListModuleDefinitionsParams{}, header("Accept", "text/html"))
	refused(t, r, r.JSON406, err, 406, notAcceptable)
	r, err = ask("admin", api.ListModuleDefinitionsParams{}, header("Host", "slipway.example"))
	refused(t, r, r.JSON421, err, 421, "slipway:Request:HOST_REFUSED")
	limited(t, func(c *api.ClientWithResponses) (answer, *http.Response, *api.UserFacingErrorData, error) {
		r, err := c.ListModuleDefinitionsWithResponse(t.Context(), nil)
		return r, r.HTTPResponse, r.JSON429, err
	})
}

func TestWhatReadingADeploymentRefuses(t *testing.T) {
	ask := func(role, id string, edit ...api.RequestEditorFn) (*api.GetDeploymentResponse, error) {
		return as(t, role).GetDeploymentWithResponse(t.Context(), id, nil, edit...)
	}
	target := given(t, "SLIPWAY_ROLLBACK_TARGET")
	r, err := ask("superadmin", target)
	refused(t, r, r.JSON400, err, 400, "slipway:Request:ORGANIZATION_NEEDED")
	r, err = ask("", target)
	refused(t, r, r.JSON401, err, 401, "slipway:Request:UNAUTHENTICATED")
	r, err = ask("admin", unknownDeployment)
	refused(t, r, r.JSON404, err, 404, "slipway:Deployment:NOT_FOUND")
	r, err = ask("admin", target, header("Method", http.MethodDelete))
	refused(t, r, r.JSON405, err, 405, "slipway:Request:METHOD_NOT_ALLOWED")
	r, err = ask("admin", target, header("Accept", "text/html"))
	refused(t, r, r.JSON406, err, 406, notAcceptable)
	r, err = ask("admin", target, header("Host", "slipway.example"))
	refused(t, r, r.JSON421, err, 421, "slipway:Request:HOST_REFUSED")
	limited(t, func(c *api.ClientWithResponses) (answer, *http.Response, *api.UserFacingErrorData, error) {
		r, err := c.GetDeploymentWithResponse(t.Context(), unknownDeployment, nil)
		return r, r.HTTPResponse, r.JSON429, err
	})
}

func TestWhatRollbackRefuses(t *testing.T) {
	ask := func(role, id string, params api.RollbackDeploymentParams, edit ...api.RequestEditorFn) (*api.RollbackDeploymentResponse, error) {
		return as(t, role).RollbackDeploymentWithResponse(t.Context(), id, &params, edit...)
	}
	target, none := given(t, "SLIPWAY_ROLLBACK_TARGET"), api.RollbackDeploymentParams{}
	r, err := ask("superadmin", target, none)
	refused(t, r, r.JSON400, err, 400, "slipway:Request:ORGANIZATION_NEEDED")
	r, err = ask("", target, none)
	refused(t, r, r.JSON401, err, 401, "slipway:Request:UNAUTHENTICATED")
	r, err = ask("viewer", target, none)
	refused(t, r, r.JSON403, err, 403, "slipway:Deployment:FORBIDDEN")
	r, err = ask("admin", unknownDeployment, none)
	refused(t, r, r.JSON404, err, 404, "slipway:Deployment:NOT_FOUND")
	r, err = ask("admin", target, none, header("Method", http.MethodGet))
	refused(t, r, r.JSON405, err, 405, "slipway:Request:METHOD_NOT_ALLOWED")
	r, err = ask("admin", target, none, header("Accept", "text/html"))
	refused(t, r, r.JSON406, err, 406, notAcceptable)
	r, err = ask("admin", target, none, header("Host", "slipway.example"))
	refused(t, r, r.JSON421, err, 421, "slipway:Request:HOST_REFUSED")
	r, err = ask("admin", target, api.RollbackDeploymentParams{ExpectedLiveDeployment: new(unknownDeployment)})
	refused(t, r, r.JSON409, err, 409, "slipway:Deployment:LIVE_CHANGED")
	made, err := ask("admin", target, none)
	if err != nil || made.JSON201 == nil {
		t.Fatalf("%v: %s", err, made.Body)
	}
	r, err = ask("admin", made.JSON201.Data.ID, none)
	refused(t, r, r.JSON422, err, 422, "slipway:Deployment:TARGET_NOT_SUCCEEDED")
	cancel(t, made.JSON201.Data.ID)
	limited(t, func(c *api.ClientWithResponses) (answer, *http.Response, *api.UserFacingErrorData, error) {
		r, err := c.RollbackDeploymentWithResponse(t.Context(), unknownDeployment, nil)
		return r, r.HTTPResponse, r.JSON429, err
	})
}

func TestWhatRedeployRefuses(t *testing.T) {
	ask := func(role, id string, params api.RedeployDeploymentParams, edit ...api.RequestEditorFn) (*api.RedeployDeploymentResponse, error) {
		return as(t, role).RedeployDeploymentWithResponse(t.Context(), id, &params, edit...)
	}
	target, none := given(t, "SLIPWAY_ROLLBACK_TARGET"), api.RedeployDeploymentParams{}
	r, err := ask("superadmin", target, none)
	refused(t, r, r.JSON400, err, 400, "slipway:Request:ORGANIZATION_NEEDED")
	r, err = ask("", target, none)
	refused(t, r, r.JSON401, err, 401, "slipway:Request:UNAUTHENTICATED")
	r, err = ask("viewer", target, none)
	refused(t, r, r.JSON403, err, 403, "slipway:Deployment:FORBIDDEN")
	r, err = ask("admin", unknownDeployment, none)
	refused(t, r, r.JSON404, err, 404, "slipway:Deployment:NOT_FOUND")
	r, err = ask("admin", target, none, header("Method", http.MethodGet))
	refused(t, r, r.JSON405, err, 405, "slipway:Request:METHOD_NOT_ALLOWED")
	r, err = ask("admin", target, none, header("Accept", "text/html"))
	refused(t, r, r.JSON406, err, 406, notAcceptable)
	r, err = ask("admin", target, none, header("Host", "slipway.example"))
	refused(t, r, r.JSON421, err, 421, "slipway:Request:HOST_REFUSED")
	key := api.RedeployDeploymentParams{IdempotencyKey: new(rand.Text())}
	made, err := ask("admin", target, key)
	if err != nil || made.JSON201 == nil {
		t.Fatalf("%v: %s", err, made.Body)
	}
	r, err = ask("admin", target, none)
	refused(t, r, r.JSON409, err, 409, "slipway:Deployment:IN_PROGRESS")
	if want := given(t, "SLIPWAY_SERVER") + "/deployments/" + made.JSON201.Data.ID; r.JSON409 == nil || r.JSON409.Action == nil || r.JSON409.Action.URL != want {
		t.Errorf("the action is not to show %s: %s", want, r.Body)
	}
	r, err = ask("admin", made.JSON201.Data.ID, key)
	refused(t, r, r.JSON422, err, 422, "slipway:Request:IDEMPOTENCY_KEY_REUSED")
	cancel(t, made.JSON201.Data.ID)
	limited(t, func(c *api.ClientWithResponses) (answer, *http.Response, *api.UserFacingErrorData, error) {
		r, err := c.RedeployDeploymentWithResponse(t.Context(), unknownDeployment, nil)
		return r, r.HTTPResponse, r.JSON429, err
	})
}

// limited asks a server whose callers may spend little until it refuses to go on.
func limited(t *testing.T, ask func(*api.ClientWithResponses) (answer, *http.Response, *api.UserFacingErrorData, error)) {
	t.Helper()
	c := connect(t, given(t, "SLIPWAY_NARROW_URL"), given(t, "SLIPWAY_NARROW_ADMIN"))
	for {
		r, err := c.UpdateDefaultValueDefinitionWithResponse(t.Context(), unknownDefinition, nil, api.DefaultValueDefinitionUpdate{})
		if err != nil {
			t.Fatal(err)
		}
		if r.JSON429 != nil {
			break
		}
	}
	for {
		r, response, got, err := ask(c)
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			continue
		}
		refused(t, r, got, err, 429, "slipway:Request:RATE_LIMITED")
		wait, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil || wait < 1 || response.Header.Get("RateLimit-Limit") != "20" {
			t.Errorf("%v: %v", err, response.Header)
		}
		return
	}
}
