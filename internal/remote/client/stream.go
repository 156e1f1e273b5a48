package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/Khan/genqlient/graphql"
)

// ErrSilent says that not even a sign of life came on a stream.
var ErrSilent = errors.New("nothing came on the stream")

// Subscribe sends a subscription, and calls each with the data of every item that comes, until the server completes the
// stream, which returns nil, or each returns an error, which is returned. If nothing comes for silence, not even a
// sign of life, it returns ErrSilent, and if the stream is cut off io.ErrUnexpectedEOF: a subscription after the
// cursor of the last item goes on without a loss.
func Subscribe[T any](
	ctx context.Context, c *Client, operation string, variables any, silence time.Duration, each func(*T) error,
) error {
	body, err := json.Marshal(graphql.Request{Query: operation, Variables: variables})
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(ErrSilent) })
	defer quiet.Stop()

	err = c.stream(ctx, body, func() { quiet.Reset(silence) }, func(answer *Answer) error {
		var item T
		if err := answer.decode(&item); err != nil {
			return err
		}
		return each(&item)
	})

	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	return err
}

// stream sends an operation and reads the events of its answer. It calls alive for whatever comes.
func (c *Client) stream(ctx context.Context, body []byte, alive func(), each func(*Answer) error) error {
	request, err := c.request(ctx, http.MethodPost, "/graphql", body, http.Header{"Accept": {"text/event-stream"}})
	if err != nil {
		return err
	}

	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()

	if media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); media != "text/event-stream" {
		answer, err := read(response)
		if err != nil {
			return err
		}
		if err := answer.Err(); err != nil {
			return err
		}
		return answer.error(failure{Message: "no event stream, but " + response.Status}, nil)
	}

	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxAnswer)
	var event string
	var data []byte

	for lines.Scan() {
		alive()
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))

		switch {
		case string(name) == "event":
			event = string(value)
		case string(name) == "data":
			data = bytes.Clone(value)
		case len(lines.Bytes()) > 0: // the id of an event, or a sign of life
		case event == "complete":
			return nil
		case event == "next":
			if err := each(&Answer{
				Status: response.Status, StatusCode: response.StatusCode, Header: response.Header, Body: data,
			}); err != nil {
				return err
			}
			event, data = "", nil
		}
	}

	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
