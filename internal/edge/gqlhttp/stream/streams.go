// Package stream carries operations of GraphQL that have more than one answer: as event streams, by the protocol
// GraphQL over Server-Sent Events, and over WebSocket, by graphql-transport-ws.
//
// Both kinds share what Streams bounds: how many are open, how many a caller has, how long a message may take to leave.
// A stream lives as long as its caller is welcome and the server runs; Shutdown ends all of them in order. What is
// executed is up to an Executor.
package stream

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
	"slipway/internal/edge/httpx"
)

// DefaultTimeout is how long an operation may run if nothing else is said.
const DefaultTimeout = 10 * time.Second

// Config configures Streams. A duration or a number of 0 stands for that
// of DefaultConfig, but for PerCaller and PerOrganization.
type Config struct {
	// Authenticate returns the context of the caller whose Authorization header the request has; the
	// context must come from the request's own. A stream is asked for again while it is open, and ends
	// when the answer is an error whose status is below 500. If it is nil, every caller is welcome.
	Authenticate func(*http.Request) (context.Context, error)
	// OriginChecked is set where whoever serves sockets has looked at the origin of the page that opens one. If it
	// is false, only pages of the same host get one.
	OriginChecked bool
	// Timeout bounds a query, a mutation, the start of a subscription and the resolution of each of its
	// events.
	Timeout time.Duration
	// WriteTimeout is how long one message may take to leave; a slower reader is cut off.
	WriteTimeout time.Duration
	// Heartbeat is the time between signs of life. A socket whose peer does not answer one within
	// the same time is cut off.
	Heartbeat time.Duration
	// Recheck is the time between questions to Authenticate.
	Recheck time.Duration
	// InitTimeout is how long a socket may take to say who it is.
	InitTimeout time.Duration
	// Open is how many streams and acknowledged sockets the server may have open at once.
	Open int
	// PerCaller is how many of them a caller may have, without limit if it is not positive.
	PerCaller int
	// PerOrganization is how many of them the callers of an organization may have together, without limit if it is not
	// positive.
	PerOrganization int
	// Handshakes is how many sockets may be open that are not acknowledged yet. They have none of
	// the places above.
	Handshakes int
	// Requests bounds the queries and mutations that a caller may have in flight over sockets; nil is
	// without limit.
	Requests *turns.Gate
	// Turns bounds how many events are resolved at once; nil is without limit.
	Turns *turns.Turns
	// Operations is how many operations a socket may run at once.
	Operations int
	// Message is the longest message that a socket may send, in bytes.
	Message int64
}

// DefaultPerOrganization returns how many streams the callers of an organization may have together, of all that may be
// open, if nothing else is said: half of them, and one at least.
func DefaultPerOrganization(open int) int { return max(open/2, 1) }

// DefaultConfig returns the durations and numbers if nothing else is said.
func DefaultConfig() Config {
	return Config{
		Timeout:      DefaultTimeout,
		WriteTimeout: 5 * time.Second,
		Heartbeat:    12 * time.Second,
		Recheck:      time.Second,
		InitTimeout:  3 * time.Second,
		Open:         10_000,
		Handshakes:   1000,
		Operations:   20,
		Message:      64 << 10,
	}
}

func (c Config) withDefaults() Config {
	if c.Authenticate == nil {
		c.Authenticate = func(r *http.Request) (context.Context, error) { return r.Context(), nil }
	}
	d := DefaultConfig()
	c.Timeout = cmp.Or(c.Timeout, d.Timeout)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, d.WriteTimeout)
	c.Heartbeat = cmp.Or(c.Heartbeat, d.Heartbeat)
	c.Recheck = cmp.Or(c.Recheck, d.Recheck)
	c.InitTimeout = cmp.Or(c.InitTimeout, d.InitTimeout)
	c.Open = cmp.Or(c.Open, d.Open)
	c.Handshakes = cmp.Or(c.Handshakes, d.Handshakes)
	c.Operations = cmp.Or(c.Operations, d.Operations)
	c.Message = cmp.Or(c.Message, d.Message)
	return c
}

// Streams are the answers of a server that are not one piece: its event streams and its sockets. They
// are shared by the transports, and end together.
type Streams struct {
	Config
	// draining ends when the streams are to.
	draining context.Context
	drain    context.CancelFunc

	callers, organizations *turns.Gate
	// handshakes are the sockets that are not acknowledged yet.
	handshakes *handshakes

	mu    sync.Mutex // of count, and of serving.Add against serving.Wait
	count int
	// serving are the handlers of streams and sockets.
	serving sync.WaitGroup
}

// New returns the streams of a server.
func New(c Config) *Streams {
	c = c.withDefaults()
	s := &Streams{
		Config: c,
		callers: turns.NewGate(turns.Limit{
			Name: "streamsPerCaller", Flag: "--max-streams-per-caller", Of: "streams and sockets open", Max: c.PerCaller,
		}),
		organizations: turns.NewGate(turns.Limit{
			Name: "streamsPerOrganization", Flag: "--max-streams-per-organization", Of: "streams and sockets open",
			By: "An organization", Max: c.PerOrganization,
		}),
		handshakes: newHandshakes(c.Handshakes),
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	return s
}

// Shutdown ends every stream in order and refuses new ones. Subscriptions are completed, queries and
// mutations finish, then sockets are closed as going away. It waits for the last of them; if the
// context ends before, it returns the context's error and some are still open.
func (s *Streams) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.drain()
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin adds a handler that Shutdown is to wait for; serving.Done removes it.
func (s *Streams) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Err() != nil {
		return errDraining()
	}
	s.serving.Add(1)
	return nil
}

// enter takes a place among the open streams for the context's caller, and returns the function that gives
// it back.
func (s *Streams) enter(ctx context.Context) (leave func(), err error) {
	caller := httpx.Caller(ctx)
	leaveCaller, err := s.callers.Enter(ctx, caller.Key)
	if err != nil {
		return nil, err
	}
	leaveOrganization, err := s.organizations.Enter(ctx, caller.Organization)
	if err != nil {
		leaveCaller()
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count >= s.Open {
		leaveOrganization()
		leaveCaller()
		return nil, errFull(s.Open)
	}

	s.count++
	return func() {
		s.mu.Lock()
		s.count--
		s.mu.Unlock()
		leaveOrganization()
		leaveCaller()
	}, nil
}

// Taken returns how many streams and sockets are open.
func (s *Streams) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// checkRoom refuses one more stream while every place is taken.
func (s *Streams) checkRoom() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count >= s.Open {
		return errFull(s.Open)
	}
	return nil
}

// checkCaller authenticates the caller of an open stream again, and returns the error that ends the stream. One that
// may be over the next time does not.
func (s *Streams) checkCaller(r *http.Request) error {
	if _, err := s.Authenticate(r); isRefusal(err) {
		return err
	}
	return nil
}

// isRefusal reports whether an error of Authenticate is about the caller, and not that nobody can be authenticated for
// now.
func isRefusal(err error) bool {
	status := fault.Status(err)
	return err != nil && status < http.StatusInternalServerError && !fault.MayRetry(status)
}

func errDraining() error {
	e := fault.New(fault.ServerUnavailable, "The server is shutting down; nothing was run.")
	e.Metadata = map[string]any{"retryAfterSeconds": 1}
	return e
}

func errFull(most int) error {
	e := fault.New(fault.ServerUnavailable,
		"The server has as many streams and sockets open as it may, %d. The limit is --max-streams.", most)
	e.Metadata = map[string]any{"limit": "streams", "value": most, "retryAfterSeconds": 1}
	return e
}

// errEnded is why a subscription stops that is to be completed.
var errEnded = errors.New("stream: the stream ends")
