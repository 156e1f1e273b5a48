package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/remote/client"
)

// answering returns a client of a server that answers each request in the same way, and the requests' bodies.
func answering(t *testing.T, status int, body string) (c *client.Client, asked func() []string) {
	t.Helper()
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.Header.Get("Authorization")+" "+string(text))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return client.New(s.URL, "slp_runner_x", slog.New(slog.DiscardHandler)), func() []string { return bodies }
}

func claim(ctx context.Context, c *client.Client) (*client.ClaimedDeployment, error) {
	response, err := client.ClaimDeployment(ctx, c, client.ClaimDeploymentInput{DeploymentTypes: []string{"terraform"}})
	if err != nil {
		return nil, err
	}
	return response.ClaimDeployment.Deployment, nil
}

func TestErrorsHaveTheCodeOfTheServer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status               int
		body                 string
		want                 client.Error
		permanent, transient bool
	}{
		"of a field": {200, `{"data":{"claimDeployment":null},"errors":[{"message":"The lease is lost.","path":["claimDeployment",1],"extensions":{"code":"slipway:Deployment:LEASE_LOST","requestId":"req_1","metadata":{"n":12345678901234567890.10}}}]}`,
			client.Error{Status: 409, Path: []any{"claimDeployment", json.Number("1")}, Data: fault.Data{Code: "slipway:Deployment:LEASE_LOST", Message: "The lease is lost.", RequestID: "req_1",
				Metadata: map[string]any{"n": json.Number("12345678901234567890.10")}}}, true, false},
		"of a request": {422, `{"errors":[{"message":"No.","extensions":{"code":"slipway:Request:INVALID"}}]}`,
			client.Error{Status: 422, Data: fault.Data{Code: "slipway:Request:INVALID", Message: "No."}}, true, false},
		"before GraphQL": {401, `{"code":"slipway:Request:UNAUTHENTICATED","message":"Who?"}`,
			client.Error{Status: 401, Data: fault.Data{Code: "slipway:Request:UNAUTHENTICATED", Message: "Who?"}}, true, false},
		"of a code that is new": {200, `{"errors":[{"message":"New.","extensions":{"code":"slipway:Some:NEW"}}]}`,
			client.Error{Status: 500, Data: fault.Data{Code: "slipway:Some:NEW", Message: "New."}}, false, true},
		"of too many requests": {429, `{"code":"slipway:Request:RATE_LIMITED","message":"Later."}`,
			client.Error{Status: 429, Data: fault.Data{Code: "slipway:Request:RATE_LIMITED", Message: "Later."}}, false, true},
		"of a proxy":         {502, `<html>away</html>`, client.Error{Status: 502, Data: fault.Data{Message: "502 Bad Gateway"}}, false, true},
		"a proxy's 404":      {404, `{"code": 404}`, client.Error{Status: 404, Data: fault.Data{Message: "404 Not Found"}}, true, true},
		"a redirect":         {301, ``, client.Error{Status: 301, Data: fault.Data{Message: "301 Moved Permanently"}}, true, true},
		"no data":            {200, `{}`, client.Error{Status: 200, Data: fault.Data{Message: "200 OK"}}, false, true},
		"more than one JSON": {200, `{"data":{}}{}`, client.Error{Status: 200, Data: fault.Data{Message: "200 OK"}}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, asked := answering(t, test.status, test.body)
			_, err := claim(t.Context(), c)
			got, ok := errors.AsType[*client.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Error(diff)
			}
			if got.Permanent() != test.permanent || client.Transient(err) != test.transient || client.NotSent(err) {
				t.Errorf("permanent %t, transient %t", got.Permanent(), client.Transient(err))
			}
			if len(asked()) != 1 || !strings.HasPrefix(asked()[0], "Bearer slp_runner_x ") {
				t.Errorf("asked %q", asked())
			}
		})
	}
}

func TestJSONKeepsItsDigits(t *testing.T) {
	t.Parallel()
	const inputs = `{"b":1.10,"a":12345678901234567890,"a":1e400}`
	c, asked := answering(t, 200, `{"data":{"claimDeployment":{"lease":{"seconds":300},"deployment":{"id":"dep_1","data":null,
		"createdAt":"2026-03-01T09:30:00.125Z","release":{"inputs":`+inputs+`}}}}}`)
	d, err := claim(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(d.Release.Inputs); got != inputs {
		t.Errorf("got %s", got)
	}
	if at, _ := json.Marshal(d.CreatedAt); string(at) != `"2026-03-01T09:30:00.125Z"` || string(d.Data) != "null" {
		t.Errorf("got %s and %s", at, d.Data)
	}
	_, err = client.ReportDeployment(t.Context(), c, client.ReportDeploymentInput{
		Id: "dep_1", LeaseId: "lease_1", Data: json.RawMessage(`{"n":1.10}`), Events: []json.RawMessage{json.RawMessage(`{"currentStep":2e0}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := asked()[1], `"variables":{"input":{"id":"dep_1","leaseId":"lease_1","events":[{"currentStep":2e0}],"data":{"n":1.10}}}`; !strings.Contains(got, want) {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	for length, ok := range map[int]bool{16 << 20: true, 16<<20 + 1: false} {
		frame := `{"data":{},"x":""}`
		c, _ := answering(t, 200, `{"data":{},"x":"`+strings.Repeat("x", length-len(frame))+`"}`)
		_, err := claim(t.Context(), c)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "the answer has more than 16777216 bytes") {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}

func TestARefusalOfAServerOfAnotherVersionNamesThat(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Slipway-Version", "7.1.0")
		_, _ = io.WriteString(w, `{"errors":[{"message":"Cannot query field.","extensions":{"code":"slipway:Document:VALIDATION_FAILED"}}]}`)
	}))
	t.Cleanup(s.Close)
	const want = "Cannot query field. The server is of version 7.1.0, and this program of another (slipway version): upgrade the older one."
	_, err := claim(t.Context(), client.New(s.URL, "slp_runner_x", slog.New(slog.DiscardHandler)))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestOlderServersAreAskedForLess(t *testing.T) {
	t.Parallel()
	c, asked := answering(t, 400, `{"errors":[{"message":"Cannot query field","extensions":{"code":"slipway:Document:VALIDATION_FAILED"}}]}`)
	if _, err := claim(t.Context(), c); err == nil || !strings.Contains(err.Error(), "Cannot query field The server is older than this program: upgrade the server.") {
		t.Errorf("it does not say why: %v", err)
	}
	got := asked()
	if len(got) != 4 {
		t.Fatalf("asked %q", got)
	}
	// How many of the requests ask for a field: the newest is left out first, so that a server knows of cancellations that
	// does not know the folder of a source.
	for field, want := range map[string]int{
		"createdBy {": 1, "sourcePath": 2, "cancelSeconds": 3, "fence": 3, "waitedSeconds": 3, "sourceRef": 4, "createdBy": 4,
	} {
		for i, request := range got {
			if strings.Contains(request, field) != (i < want) {
				t.Errorf("request %d of those that ask for %s, want the first %d: %q", i+1, field, want, request)
			}
		}
	}
}

func TestAServerThatDoesNotKnowAnInputIsOlder(t *testing.T) {
	t.Parallel()
	for message, isOther := range map[string]bool{
		`Variable \"$input.wait\" is not a field of ClaimDeploymentInput.`: true, `Variable \"$input.wait\" must be an Int.`: false,
	} {
		c, _ := answering(t, 200, `{"errors":[{"message":"`+message+`","extensions":{"code":"slipway:Document:VARIABLES_INVALID"}}]}`)
		if _, err := claim(t.Context(), c); err == nil || strings.Contains(err.Error(), "upgrade the server") != isOther {
			t.Errorf("%s: %v", message, err)
		}
	}
}

func TestRequestsAreRepeatedUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	c := client.New("http://127.0.0.1:1", "", slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tries, broken := 0, errors.New("broken")
	err := c.Retry(ctx, "some", func() (bool, error) { tries++; return tries < 3, fmt.Errorf("try %d: %w", tries, broken) })
	if tries != 3 || !errors.Is(err, broken) {
		t.Errorf("%d tries, %v", tries, err)
	}
	err = c.Retry(ctx, "some", func() (bool, error) { cancel(); return true, broken })
	if !errors.Is(err, broken) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_, err = claim(t.Context(), c)
	if !client.NotSent(err) || !client.Transient(err) {
		t.Errorf("nobody there: %v", err)
	}
}
