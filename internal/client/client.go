// Package client is a typed client of Slipway's GraphQL API, for what runs elsewhere than the server. Each operation is
// a file's in operations, and a function that genqlient makes of it, such as [ClaimDeployment]; a [Client] sends it.
//
// What a server refuses is an [Error] with the code that the server gave it; [Error.Permanent] tells what is not worth
// being asked again, and [Client.Retry] asks the rest again. JSON values are passed on as they were sent.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"

	"github.com/Khan/genqlient/graphql"

	"slipway/internal/fault"
)

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 16 << 20

// Client sends operations to a server. It is a graphql.Client, which the generated functions take. The context of a
// call bounds its time.
type Client struct {
	url, token string
	http       http.Client
	log        *slog.Logger
}

// New returns a client of the server at a base URL, without a slash at its end, that proves itself by a token. Requests
// that are repeated are logged.
func New(server, token string, log *slog.Logger) *Client {
	return &Client{
		url: server + "/graphql", token: token, log: log,
		// A redirect would turn the POST into a GET. The error shows the operator what to change in the URL.
		http: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// newFields are the fields that servers from before cancellation requests and claims that wait do not know.
var newFields = regexp.MustCompile(`\s+(cancelSeconds|fence|waitedSeconds)\b`)

// MakeRequest sends an operation once and decodes the data of the answer. If the server does not know some of the
// fields, it is asked again without the new ones: runners are upgraded before servers.
func (c *Client) MakeRequest(ctx context.Context, request *graphql.Request, into *graphql.Response) error {
	err := c.send(ctx, request, into.Data)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == string(fault.DocumentValidationFailed) {
		older := *request
		if older.Query = newFields.ReplaceAllString(request.Query, ""); older.Query != request.Query {
			return c.send(ctx, &older, into.Data)
		}
	}
	return err
}

func (c *Client) send(ctx context.Context, operation *graphql.Request, data any) error {
	body, err := json.Marshal(operation)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/graphql-response+json")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxAnswer:
		return fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return decode(response, text, data)
}

// failure is the error of what refuses a request before GraphQL.
type failure = fault.Data

// answer is an answer of GraphQL, or of what refuses a request before GraphQL.
type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions fault.Data
	}
	failure
}

// decode decodes the data of an answer, or returns its error.
func decode(response *http.Response, text []byte, data any) error {
	var a answer
	if err := unmarshal(text, &a); err != nil {
		return &Error{Status: response.StatusCode, Data: fault.Data{Message: response.Status}}
	}
	switch {
	case len(a.Errors) > 0:
		first := a.Errors[0].Extensions
		first.Message = a.Errors[0].Message
		return newError(response.StatusCode, a.Errors[0].Path, first)
	case a.Data == nil:
		a.Message = cmp.Or(a.Message, response.Status)
		return &Error{Status: response.StatusCode, Data: a.failure}
	}
	return unmarshal(a.Data, data)
}

// unmarshal is json.Unmarshal, except that numbers of any type keep their digits.
func unmarshal(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one JSON value")
	}
	return nil
}
