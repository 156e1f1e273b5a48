package paritytest_test

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/test/worldtest"
	"slipway/rest"
)

// shown returns an error as both surfaces show it to an actor, in REST's form.
func shown(t *testing.T, a *actor.Actor, err error) (overREST, overGraphQL map[string]any, status int) {
	t.Helper()
	r := httptest.NewRequestWithContext(actor.WithRequestID(actor.With(t.Context(), a), "req_1"), "POST", "/", nil)
	one, two := httptest.NewRecorder(), httptest.NewRecorder()
	rest.Surface{Log: slog.New(slog.DiscardHandler)}.Fail(one, r, err)
	wire.Refuse(two, r, err)
	body := worldtest.Response{Body: one.Body.Bytes()}
	return body.Refusal(t), worldtest.Response{Body: two.Body.Bytes()}.Refusal(t), one.Code
}

func TestEveryCodeIsTheSameJSONOnBothSurfaces(t *testing.T) {
	t.Parallel()
	caller, superadmin := &actor.Actor{Role: actor.Admin, OrganizationID: "org_1"}, &actor.Actor{Role: actor.Superadmin}
	for _, entry := range fault.Codes() {
		plain := fault.New(entry.Code, "Something <is> wrong & so on.")
		rich := fault.Invalid(entry.Code, fault.Violation{Pointer: "/schema/a~1b", Rule: "required", Message: "is required"})
		rich.Description, rich.Action = "More\nof it.", &fault.Action{Label: "Do", URL: "https://x.example/?a=1&b=2"}
		rich.Details = []fault.Section{
			{Title: "List", Render: fault.RenderList, Items: []string{"<one>"}},
			{Title: "Object", Render: fault.RenderObject, Object: map[string]any{"n": 1.5, "none": nil, "deep": []any{true}}},
		}
		rich.Metadata = map[string]any{"blockedBy": map[string]any{"deploymentId": "dep_1"}}
		for _, err := range []*fault.Error{plain, rich} {
			for _, a := range []*actor.Actor{caller, superadmin, actor.Anonymous()} {
				overREST, overGraphQL, status := shown(t, a, err.WithCause(errors.New("secret")))
				if diff := cmp.Diff(overREST, overGraphQL); diff != "" {
					t.Errorf("%s: REST (-) and GraphQL (+) differ: %s", entry.Code, diff)
				}
				if status != entry.Status || overREST["code"] != string(entry.Code) || overREST["requestId"] != "req_1" {
					t.Errorf("%s: status %d, want %d: %v", entry.Code, status, entry.Status, overREST)
				}
			}
		}
	}
}

func TestUnknownErrorsAreMaskedAlike(t *testing.T) {
	t.Parallel()
	for _, a := range []*actor.Actor{{Role: actor.Admin}, {Role: actor.Superadmin}} {
		overREST, overGraphQL, status := shown(t, a, errors.New("secret"))
		if diff := cmp.Diff(overREST, overGraphQL); diff != "" || status != 500 {
			t.Errorf("status %d, REST (-) and GraphQL (+) differ: %s", status, diff)
		}
		want := map[string]any{"code": string(fault.ServerInternal), "message": "Internal server error.", "requestId": "req_1"}
		if a.IsSuperadmin() {
			want["description"], want["isInternal"] = "secret", true
		}
		if diff := cmp.Diff(want, overREST); diff != "" {
			t.Errorf("%s: %s", a.Role, diff)
		}
	}
}
