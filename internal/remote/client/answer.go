package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

// Answer is an answer of a server as it came.
type Answer struct {
	// Status is the HTTP status with its text.
	Status     string
	StatusCode int
	Header     http.Header
	Body       []byte
}

// Do sends a request to a path of the API once, with a body of JSON unless that is nil, and reads the answer whatever
// its status is.
func (c *Client) Do(ctx context.Context, method, path string, body []byte, header http.Header) (*Answer, error) {
	request, err := c.request(ctx, method, path, body, header)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	return read(response)
}

func (c *Client) request(
	ctx context.Context, method, path string, body []byte, header http.Header,
) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.organization != "" {
		request.Header.Set(httpx.OrganizationHeader, c.organization)
	}
	return request, nil
}

// read reads an answer to its end.
func read(response *http.Response) (*Answer, error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return &Answer{response.Status, response.StatusCode, response.Header, text}, nil
}

// failure is the error of what refuses a request before GraphQL.
type failure = fault.Data

// content is what an answer of GraphQL has, or of what refuses a request before GraphQL.
type content struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions fault.Data
	}
	failure
}

// Successful reports whether the answer has what was asked for, or a part of that: of GraphQL some data, beside errors
// or not, and of REST a status that says so.
func (a *Answer) Successful() bool {
	var c content
	if a.StatusCode >= http.StatusMultipleChoices || unmarshal(a.Body, &c) != nil {
		return a.StatusCode == http.StatusNoContent
	}
	return len(c.Errors) == 0 || len(c.Data) > 0 && string(c.Data) != "null"
}

// Err returns the error that an answer is, or nil. Of several errors of GraphQL it is the first.
func (a *Answer) Err() error { return a.decode(nil) }

// decode decodes the data of an answer, unless into is nil, or returns its error.
func (a *Answer) decode(into any) error {
	var c content
	if err := unmarshal(a.Body, &c); err != nil {
		return a.error(fault.Data{Message: a.Status}, nil)
	}
	switch {
	case len(c.Errors) > 0:
		first := c.Errors[0].Extensions
		first.Message = c.Errors[0].Message
		return a.error(first, c.Errors[0].Path)
	case c.Data == nil, string(c.Data) == "null": // without an error, which is no answer of GraphQL
		c.Message = cmp.Or(c.Message, a.Status)
		return a.error(c.failure, nil)
	case into == nil:
		return nil
	}
	return unmarshal(c.Data, into)
}

// error returns the error of an answer. Those of a running operation come with status 200.
func (a *Answer) error(data fault.Data, path []any) *Error {
	status := a.StatusCode
	if status == http.StatusOK && data.Code != "" {
		status = fault.Code(data.Code).Status()
	}
	seconds, _ := strconv.Atoi(a.Header.Get("Retry-After")) // a date is as good as none
	return &Error{
		Status: status, Path: path, Data: data, ServerVersion: a.Header.Get(httpx.VersionHeader),
		Location: a.Header.Get("Location"), RetryAfter: time.Duration(max(seconds, 0)) * time.Second,
	}
}
