package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"slipway/graph/model"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/test/worldtest"
	"slipway/rest"
)

// failing are resolvers that always fail.
type failing struct{ err error }

func (f failing) ModuleDefinitions(context.Context, *model.ModuleDefinitionFilter, model.ListOrder, *int32, *string, *int32, *string) (*page.ModuleDefinitionConnection, error) {
	return nil, f.err
}

func (f failing) Deployment(context.Context, string) (*record.Deployment, error) {
	return nil, f.err
}

func (f failing) UpdateDefaultValueDefinition(context.Context, model.UpdateDefaultValueDefinitionInput) (*model.UpdateDefaultValueDefinitionPayload, error) {
	return nil, f.err
}

func (f failing) RollbackDeployment(context.Context, model.RollbackDeploymentInput) (*model.RollbackDeploymentPayload, error) {
	return nil, f.err
}

func (f failing) RedeployDeployment(context.Context, model.RedeployDeploymentInput) (*model.RedeployDeploymentPayload, error) {
	return nil, f.err
}

func (f failing) ReceiveECSEvent(context.Context, *strictjson.Node) error { return f.err }

// broken is an API whose resolvers fail, for callers of the role; log gets what it logs.
func broken(t *testing.T, err error, role actor.Role, log *bytes.Buffer) *worldtest.World {
	t.Helper()
	surface := rest.Surface{Log: slog.New(slog.NewJSONHandler(log, nil)), MaxBody: 1 << 10}
	r := chi.NewRouter()
	r.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "given")
			ctx := actor.WithRequestID(r.Context(), "given")
			next.ServeHTTP(w, r.WithContext(actor.With(ctx, &actor.Actor{Name: "test", Role: role})))
		})
	})
	surface.Routes(r, failing{err}, failing{err}, failing{err})
	listening := httptest.NewServer(r)
	t.Cleanup(listening.Close)
	return &worldtest.World{URL: listening.URL}
}

// requests has a good request for each operation.
var requests = map[string]exchange{
	"updateDefaultValueDefinition": {http.MethodPatch, "/default-value-definitions/dvd_1", "token", `{"data":{}}`, nil},
	"listModuleDefinitions":        {http.MethodGet, "/module-definitions", "token", "", nil},
	"getDeployment":                {http.MethodGet, "/deployments/dep_1", "token", "", nil},
	"rollbackDeployment":           {http.MethodPost, "/deployments/dep_1/rollback", "token", "", nil},
	"redeployDeployment":           {http.MethodPost, "/deployments/dep_1/redeploy", "token", "", nil},
	"receiveEcsEvent":              {http.MethodPost, "/integrations/ecs/events", "token", steadyState, nil},
}

// steadyState is an event of the cloud.
var steadyState = `{"version":"0","id":"af3c496d-f4a8-65d1-70f4-a69d52e9b584","detail-type":"ECS Service Action","source":"aws.ecs",` +
	`"account":"123456789012","time":"` + time.Now().UTC().Format(time.RFC3339) + `","region":"eu-west-1","resources":["arn:aws:ecs:eu-west-1:123456789012:service/main/web"],` +
	`"detail":{"eventType":"INFO","eventName":"SERVICE_STEADY_STATE","clusterArn":"arn:aws:ecs:eu-west-1:123456789012:cluster/main","createdAt":"2026-03-05T16:08:11.695Z"}}`

var errInside = errors.New("the inside of the server")

func TestFailuresOfTheServerAreTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		logged int
	}{
		"500":         {errInside, 1},
		"503":         {fault.New(fault.ServerUnavailable, "The database does not answer.").WithCause(errInside), 1},
		"503-busy":    {fault.New(fault.ServerUnavailable, "Too many patterns are being tried at once."), 0},
		"503-timeout": {fmt.Errorf("reading: %w", context.DeadlineExceeded), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for operation, e := range requests {
				var log bytes.Buffer
				w := broken(t, test.err, actor.Admin, &log)
				golden(t, w, operation+"/"+name, e, ask(t, w, e))
				lines := strings.Count(log.String(), "\n")
				if lines != test.logged {
					t.Errorf("%s logged %d lines, want %d: %s", operation, lines, test.logged, &log)
				}
				if test.logged > 0 && !(strings.Contains(log.String(), `"requestId":"given"`) && strings.Contains(log.String(), errInside.Error())) {
					t.Errorf("%s: the log lacks the request's id or the cause: %s", operation, &log)
				}
			}
		})
	}
}

func TestSuperadminsSeeTheInsideOfInternalErrors(t *testing.T) {
	t.Parallel()
	e := requests["getDeployment"]
	for role, want := range map[actor.Role]fault.Data{
		actor.Superadmin: {IsInternal: true, Description: errInside.Error()},
		actor.Admin:      {},
	} {
		var got fault.Data
		if err := json.Unmarshal(ask(t, broken(t, errInside, role, new(bytes.Buffer)), e).Body, &got); err != nil {
			t.Fatal(err)
		}
		if got.IsInternal != want.IsInternal || got.Description != want.Description || got.Metadata != nil || got.Details != nil {
			t.Errorf("%s gets %+v", role, got)
		}
	}
}
