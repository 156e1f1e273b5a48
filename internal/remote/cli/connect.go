package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/Khan/genqlient/graphql"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// connection sends requests to a server, and repeats those that nothing is lost by while the server is away. It is a
// graphql.Client for reads, and for writes that come to the same when they are done again.
type connection struct {
	place
	*client.Client
	config Config
	// errOut is for what goes on meanwhile.
	errOut io.Writer
}

// connect returns a connection to a place. It asks nothing yet, but for the token if a program has that.
func (c *Config) connect(ctx context.Context, p place, errOut io.Writer) (*connection, error) {
	token := p.Token
	if p.TokenCommand != "" {
		var err error
		if token, err = tokenOf(ctx, p.TokenCommand, c.CommandTimeout, errOut); err != nil {
			return nil, err
		}
	}
	if token == "" {
		return nil, &codeError{
			exitDenied,
			fmt.Errorf("the context %s has no token; log in with: slipway login --server %s --context %s",
				p.context, p.Server, p.context),
		}
	}
	sender := client.New(p.Server, token, slog.New(slog.DiscardHandler), client.InOrganization(p.Organization))
	return &connection{p, sender, *c, errOut}, nil
}

// MakeRequest implements graphql.Client.
func (c *connection) MakeRequest(ctx context.Context, request *graphql.Request, into *graphql.Response) error {
	return c.repeat(ctx, away, func(ctx context.Context) error { return c.Client.MakeRequest(ctx, request, into) })
}

// once is a graphql.Client that repeats only what has not been carried out.
type once struct{ *connection }

func (o once) MakeRequest(ctx context.Context, request *graphql.Request, into *graphql.Response) error {
	return o.repeat(ctx, notDone, func(ctx context.Context) error { return o.Client.MakeRequest(ctx, request, into) })
}

// write carries out a write that must not be done twice. As it may have been done although its answer was lost, look
// says each time beforehand whether what is wanted is there.
func (c *connection) write(
	ctx context.Context, look func(context.Context) (there bool, err error),
	do func(context.Context, graphql.Client) error,
) error {
	return c.repeat(ctx, away, func(ctx context.Context) error {
		there, err := look(ctx)
		if err != nil || there {
			return err
		}
		return do(ctx, once{c})
	})
}

// repeat sends a request until it is answered, for as long as again says so and the patience lasts.
func (c *connection) repeat(ctx context.Context, again func(error) bool, send func(context.Context) error) error {
	patience, cancel := context.WithTimeout(ctx, c.config.Patience)
	defer cancel()
	end, _ := patience.Deadline()

	var last error
	told := false

	_ = c.Retry(patience, "", func() (bool, error) {
		one, cancel := context.WithTimeout(ctx, c.config.Timeout)
		defer cancel()
		last = send(one)

		refused, _ := errors.AsType[*client.Error](last)
		if last == nil || ctx.Err() != nil || !again(last) || refused != nil && time.Until(end) < refused.RetryAfter {
			return false, last
		}

		if !told && patience.Err() == nil {
			told = true
			note(c.errOut, "%v; trying again for %s", c.explain(last), setting.DurationText(c.config.Patience))
		}
		if refused != nil {
			pause(patience, refused.RetryAfter)
		}
		return true, last
	})

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.explain(last)
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// away reports whether a request may be answered when it is repeated.
func away(err error) bool {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return false
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if untrusted || errors.Is(err, http.ErrSchemeMismatch) {
		return false
	}
	_, sending := errors.AsType[*url.Error](err)
	_, receiving := errors.AsType[net.Error](err)
	return sending || receiving || errors.Is(err, io.ErrUnexpectedEOF)
}

// notDone reports whether a request that was away has certainly not been carried out.
func notDone(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return client.NotSent(err) && away(err) || ok && refused.Status == http.StatusTooManyRequests
}

// serverError is an error that names the server, since what it wraps does not.
type serverError struct {
	text string
	err  error
}

func (e *serverError) Error() string { return e.text }
func (e *serverError) Unwrap() error { return e.err }

// explain returns an error that names the server if the error is none of Slipway's own.
func (c *connection) explain(err error) error {
	if _, explained := errors.AsType[*serverError](err); explained || err == nil {
		return err
	}

	if sending, ok := errors.AsType[*url.Error](err); ok {
		if sending.Timeout() {
			return &serverError{
				fmt.Sprintf("%s does not answer within %s", c.Server, setting.DurationText(c.config.Timeout)), err,
			}
		}
		return &serverError{fmt.Sprintf("%s cannot be reached: %v", c.Server, sending.Err), err}
	}

	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &serverError{c.Server + " has cut the connection", err}
	case errors.Is(err, client.ErrSilent):
		return &serverError{c.Server + " is silent", err}
	}

	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code != "" {
		return err
	}

	text := fmt.Sprintf("%s: %v", c.Server, refused)
	switch {
	case refused.Location != "":
		text += fmt.Sprintf(": want the URL that it redirects to, %s, found one that redirects, which is not followed",
			refused.Location)
	case refused.Status >= http.StatusInternalServerError:
	case refused.Status == http.StatusUnauthorized, refused.Status == http.StatusForbidden:
		text += ", and not as Slipway does: something before it asks who you are"
	default:
		text += ", which Slipway does not send: want the URL of its API, " +
			"with the path before /graphql if there is one"
	}
	return &serverError{text, err}
}

// isCode reports whether an error is the server's of this code.
func isCode(err error, codes ...fault.Code) bool {
	refused, ok := errors.AsType[*client.Error](err)
	for _, code := range codes {
		if ok && refused.Code == string(code) {
			return true
		}
	}
	return false
}
