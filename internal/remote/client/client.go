// Package client is a typed client of Slipway's GraphQL API, for what runs elsewhere than the server. Each operation is
// a file's in operations, and a function that genqlient makes of it, such as [ClaimDeployment]; a [Client] sends it.
//
// What a server refuses is an [Error] with the code that the server gave it; [Error.Permanent] tells what is not worth
// being asked again, and [Client.Retry] asks the rest again. JSON values are passed on as they were sent.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"

	"github.com/Khan/genqlient/graphql"

	"slipway/internal/base/fault"
)

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 16 << 20

// Client sends operations to a server. It is a graphql.Client, which the generated functions take. The context of a
// call bounds its time.
type Client struct {
	server, token, organization string
	http                        http.Client
	log                         *slog.Logger
}

// Option changes a Client.
type Option func(*Client)

// InOrganization has requests name the organization that they are about, by its id or slug, unless it is empty.
func InOrganization(name string) Option { return func(c *Client) { c.organization = name } }

// New returns a client of the server at a base URL, without a slash at its end, that proves itself by a token. Requests
// that are repeated are logged.
func New(server, token string, log *slog.Logger, options ...Option) *Client {
	c := &Client{
		server: server, token: token, log: log,
		// A redirect would turn the POST into a GET. The error shows the operator what to change in the URL.
		http: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	for _, change := range options {
		change(c)
	}
	return c
}

// newFields are the fields that older servers do not know, the newest first, and what they know in their place: who did
// something was a text; the folder of a source, and those of cancellation requests and of claims that wait, are new.
var newFields = []struct {
	fields *regexp.Regexp
	before string
}{
	{regexp.MustCompile(`\bcreatedBy\s*\{\s*name\s*\}`), "createdBy"},
	{regexp.MustCompile(`\s+sourcePath\b`), ""},
	{regexp.MustCompile(`\s+(cancelSeconds|fence|waitedSeconds)\b`), ""},
}

// MakeRequest sends an operation once and decodes the data of the answer. If the server does not know some of the
// fields, it is asked again without the newest, and then without the others: runners are upgraded before servers.
func (c *Client) MakeRequest(ctx context.Context, request *graphql.Request, into *graphql.Response) error {
	err := c.send(ctx, request, into.Data)
	older := *request
	for _, since := range newFields {
		if refused, ok := errors.AsType[*Error](err); !ok || refused.Code != string(fault.DocumentValidationFailed) {
			break
		}
		if less := since.fields.ReplaceAllString(older.Query, since.before); less != older.Query {
			older.Query = less
			err = c.send(ctx, &older, into.Data)
		}
	}
	return ofAnotherVersion(err)
}

// ofAnotherVersion adds to the refusal of an operation that the server does not know what to do. The operations are
// this program's own, and valid for a server of its version.
func ofAnotherVersion(err error) error {
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	isUnknown := refused.Code == string(fault.DocumentVariablesInvalid) &&
		strings.Contains(refused.Message, " is not a field of ")
	if !isUnknown && refused.Code != string(fault.DocumentValidationFailed) {
		return err
	}

	if refused.ServerVersion == "" {
		refused.Message += " The server is older than this program: upgrade the server."
	} else {
		refused.Message += " The server is of version " + refused.ServerVersion +
			", and this program of another (slipway version): upgrade the older one."
	}
	return err
}

func (c *Client) send(ctx context.Context, operation *graphql.Request, data any) error {
	body, err := json.Marshal(operation)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	answer, err := c.Do(ctx, http.MethodPost, "/graphql", body, http.Header{
		"Accept": {"application/graphql-response+json"},
	})
	if err != nil {
		return err
	}
	return answer.decode(data)
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
