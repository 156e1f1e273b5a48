package gqlhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/wire"
)

// fail is how the toy's field fails.
func fail(how string) error {
	switch how {
	case "fault":
		return fmt.Errorf("read: %w", fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/name", Rule: "required", Message: "must be given"}))
	case "unavailable":
		return fault.New(fault.ServerUnavailable, "The database is away.").WithCause(errors.New("dial: secret"))
	case "busy":
		return fault.New(fault.ServerUnavailable, "Too much is under way.")
	case "markup":
		return fault.New(fault.RequestInvalid, "Send <role> & nothing else.")
	case "deadline":
		return fmt.Errorf("query: %w", context.DeadlineExceeded)
	case "gqlerror":
		return gqlerror.Errorf("secret of a resolver")
	case "panic":
		panic("secret of a panic")
	case "long panic":
		panic(strings.Repeat("long", 1<<20))
	default:
		return errors.New("pq: secret")
	}
}

func TestTheTextOfAnErrorIsWrittenAsItIs(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).do(t, post(`{"query":"{ fails(how: \"markup\") }"}`))
	if !strings.Contains(a.Body, `"message":"Send <role> & nothing else."`) {
		t.Error(a.Body)
	}
}

func TestAFieldsErrorHasItsCodePathAndRequestID(t *testing.T) {
	t.Parallel()
	for how, c := range map[string]struct {
		code fault.Code
		logs int
	}{
		"fault":       {fault.RequestInvalid, 0},
		"deadline":    {fault.RequestTimeout, 0},
		"unavailable": {fault.ServerUnavailable, 1},
		"busy":        {fault.ServerUnavailable, 0},
		"gqlerror":    {fault.ServerInternal, 1},
		"panic":       {fault.ServerInternal, 1},
		"unknown":     {fault.ServerInternal, 1},
	} {
		s := newServer(gqlhttp.Config{})
		r := post(`{"query":"{ here: fails(how: \"` + how + `\") __typename }"}`)
		a := s.do(t, r.WithContext(actor.WithRequestID(r.Context(), "r1")))
		if a.Status != 200 || string(a.Data) != `{"__typename":"Query","here":null}` || a.code() != string(c.code) {
			t.Errorf("%s: %d %s", how, a.Status, a.Body)
			continue
		}
		e := a.Errors[0]
		if fmt.Sprint(e.Path) != "[here]" || e.Extensions["requestId"] != "r1" || strings.Contains(a.Body, "secret") {
			t.Errorf("%s: %s", how, a.Body)
		}
		if lines := strings.Count(s.log.String(), "\n"); lines != c.logs || c.logs > 0 && !strings.Contains(s.log.String(), `"requestId":"r1"`) {
			t.Errorf("%s: %d lines logged: %s", how, lines, s.log)
		}
		if c.logs > 0 && !strings.Contains(s.log.String(), "secret") {
			t.Errorf("%s: the log lacks the cause: %s", how, s.log)
		}
	}
}

func TestViolationsPointIntoTheInput(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).run(t, `{ fails(how: "fault") }`, "")
	if !strings.Contains(a.Body, `"pointer":"/input/name"`) {
		t.Error(a.Body)
	}
}

func TestSuperadminsSeeTheCauseOfInternalErrors(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"unknown", "panic"} {
		r := post(`{"query":"{ fails(how: \"` + how + `\") }"}`)
		a := newServer(gqlhttp.Config{}).do(t, r.WithContext(actor.With(r.Context(), &actor.Actor{Role: actor.Superadmin})))
		description, _ := a.Errors[0].Extensions["description"].(string)
		if !strings.Contains(description, "secret") || a.Errors[0].Extensions["isInternal"] != true {
			t.Errorf("%s: %s", how, a.Body)
		}
	}
}

func TestPanicsOfAnAnswerAreOneLineOfTheLog(t *testing.T) {
	t.Parallel()
	for fields, how := range map[int]string{1: "panic", 25: "panic", 2: "long panic"} {
		s := newServer(gqlhttp.Config{})
		query := repeat(fields, `a%d: fails(how: \"`+how+`\") `)
		a := s.do(t, post(`{"query":"{ `+query+`}"}`))
		for _, e := range a.Errors {
			if e.Extensions["code"] != string(fault.ServerInternal) || len(e.Path) != 1 {
				t.Errorf("%d fields: %v", fields, e)
			}
		}
		if len(a.Errors) != fields || strings.Contains(a.Body, "secret") {
			t.Errorf("%d fields: %d errors", fields, len(a.Errors))
		}
		var line struct {
			Panic, Stack string
			Panics       int
		}
		if err := json.Unmarshal(s.log.Bytes(), &line); err != nil {
			t.Fatalf("%d fields: the log is not one line: %v", fields, err)
		}
		if line.Panics != fields || line.Panic == "" || !strings.Contains(line.Stack, "gqlhttp_test.fail") {
			t.Errorf("%d fields: %+v", fields, line)
		}
		if len(line.Stack) > 8<<10 || s.log.Len() > 12<<10 {
			t.Errorf("%d fields: %d bytes logged", fields, s.log.Len())
		}
	}
}

func TestErrorsOfAnAnswerAreOneLineOfTheLog(t *testing.T) {
	t.Parallel()
	for fields, how := range map[int]string{1: "unknown", 25: "unavailable"} {
		s := newServer(gqlhttp.Config{})
		if a := s.do(t, post(`{"query":"{ `+repeat(fields, `a%d: fails(how: \"`+how+`\") `)+`}"}`)); len(a.Errors) != fields {
			t.Errorf("%d fields: %d errors", fields, len(a.Errors))
		}
		var line struct {
			Error  string
			Errors int
		}
		if err := json.Unmarshal(s.log.Bytes(), &line); err != nil {
			t.Fatalf("%d fields: the log is not one line: %v", fields, err)
		}
		if line.Errors != fields || !strings.Contains(line.Error, "secret") {
			t.Errorf("%d fields: %+v", fields, line)
		}
	}
}

// full has every member set, so that a new one cannot be forgotten.
func full(t *testing.T, code fault.Code) fault.Data {
	d := fault.Data{
		Code: string(code), Message: "m", Description: "d", Action: &fault.Action{Label: "l", URL: "u"},
		Details:    []fault.Section{{Title: "t", Render: fault.RenderList, Items: []string{"i"}}},
		IsInternal: true, Metadata: map[string]any{"big": int64(1) << 60}, RequestID: "r",
	}
	for i := range reflect.TypeFor[fault.Data]().NumField() {
		if v := reflect.ValueOf(d).Field(i); v.IsZero() {
			t.Fatalf("fault.Data has a member that this test does not set: %s", reflect.TypeFor[fault.Data]().Field(i).Name)
		}
	}
	return d
}

func TestBothSurfacesSayTheSameOfEveryCode(t *testing.T) {
	t.Parallel()
	for _, entry := range fault.Codes() {
		for _, d := range []fault.Data{full(t, entry.Code), {Code: string(entry.Code), Message: "m"}} {
			e := wire.FromFault(d)
			flat := map[string]any{"message": e.Message}
			for k, v := range e.Extensions {
				flat[k] = v
			}
			if diff := cmp.Diff(object(t, d), object(t, flat)); diff != "" {
				t.Errorf("%s: %s", entry.Code, diff)
			}
		}
	}
}

func object(t *testing.T, v any) map[string]json.RawMessage {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &members); err != nil {
		t.Fatal(err)
	}
	return members
}
