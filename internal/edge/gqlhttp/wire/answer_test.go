package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

func ExampleEncode() {
	refused := wire.FromFault(fault.Data{Code: "slipway:Project:NOT_FOUND", Message: "No project <p>."})
	fmt.Println(string(wire.Encode(&graphql.Response{
		Errors: gqlerror.List{refused}, Data: json.RawMessage(`{"project":null}`), Extensions: map[string]any{"cost": 1},
	})))
	// Output:
	// {"errors":[{"message":"No project <p>.","extensions":{"code":"slipway:Project:NOT_FOUND"}}],"data":{"project":null},"extensions":{"cost":1}}
}

func TestAnAnswerHasWhatThereIs(t *testing.T) {
	t.Parallel()
	data, errs, extensions := json.RawMessage(`{"a":1}`), gqlerror.List{{Message: "x"}}, map[string]any{"b": "<"}
	for want, resp := range map[string]*graphql.Response{
		`{}`:                           {},
		`{"data":{"a":1}}`:             {Data: data},
		`{"errors":[{"message":"x"}]}`: {Errors: errs},
		`{"extensions":{"b":"<"}}`:     {Extensions: extensions},
		`{"data":{"a":1},"extensions":{"b":"<"}}`:             {Data: data, Extensions: extensions},
		`{"errors":[{"message":"x"}],"data":{"a":1}}`:         {Errors: errs, Data: data},
		`{"errors":[{"message":"x"}],"extensions":{"b":"<"}}`: {Errors: errs, Extensions: extensions},
	} {
		if got := string(wire.Encode(resp)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTheStatusIsThatOfTheFirstErrorWhereThereIsNoData(t *testing.T) {
	t.Parallel()
	errs := func(code fault.Code) gqlerror.List {
		return gqlerror.List{wire.FromFault(fault.Data{Code: string(code)})}
	}
	for name, c := range map[string]struct {
		resp          graphql.Response
		json, graphql int
	}{
		"data":                  {graphql.Response{Data: json.RawMessage("{}")}, 200, 200},
		"data beside an error":  {graphql.Response{Data: json.RawMessage("{}"), Errors: errs(fault.ServerInternal)}, 200, 200},
		"a bad document":        {graphql.Response{Errors: errs(fault.DocumentValidationFailed)}, 200, 400},
		"too many requests":     {graphql.Response{Errors: errs(fault.RequestRateLimited)}, 429, 429},
		"an error without code": {graphql.Response{Errors: gqlerror.List{{Message: "x"}}}, 500, 500},
	} {
		for media, want := range map[string]int{httpx.MediaJSON: c.json, wire.MediaGraphQL: c.graphql} {
			w := httptest.NewRecorder()
			wire.Respond(w, media, &c.resp)
			if w.Code != want || w.Header().Get("Content-Type") != media+"; charset=utf-8" {
				t.Errorf("%s as %s: %d %v, want %d", name, media, w.Code, w.Header(), want)
			}
		}
	}
}

func TestRefuseAnswersBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	for want, err := range map[int]error{
		401: fault.New(fault.RequestUnauthenticated, "The token has expired."),
		500: errors.New("dial tcp 10.0.0.1: secret"),
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
		wire.Refuse(w, r.WithContext(actor.WithRequestID(r.Context(), "r1")), err)
		body := w.Body.String()
		if w.Code != want || !strings.Contains(body, `"requestId":"r1"`) || strings.Contains(body, "secret") {
			t.Errorf("%v: %d %s", err, w.Code, body)
		}
	}
}

func TestRetryAfterIsHowLongToWait(t *testing.T) {
	t.Parallel()
	busy := fault.New(fault.ServerUnavailable, "Busy.")
	busy.Metadata = map[string]any{"retryAfterSeconds": 7}
	for name, c := range map[string]struct {
		err         error
		given, want string
	}{
		"unavailable":       {fault.New(fault.ServerUnavailable, "No database."), "", "5"},
		"limited":           {fault.New(fault.RequestRateLimited, "Too many."), "", "5"},
		"the error says":    {busy, "", "7"},
		"a middleware said": {busy, "9", "9"},
		"not to wait":       {fault.New(fault.RequestForbidden, "Never."), "", ""},
	} {
		w := httptest.NewRecorder()
		if c.given != "" {
			w.Header().Set("Retry-After", c.given)
		}
		wire.Refuse(w, httptest.NewRequest(http.MethodPost, "/graphql", nil), c.err)
		if got := w.Header().Get("Retry-After"); got != c.want {
			t.Errorf("%s: Retry-After %q, want %q", name, got, c.want)
		}
	}
}
