//go:build linux

// Package load sends requests over many connections at once, and looks at every answer.
package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"slipway/bench/data"
	"slipway/bench/requests"
)

// Load is requests of one kind, ready to be sent.
type Load struct {
	Kind  *requests.Kind
	World data.World
	// Host is the address of the server.
	Host string

	clients []*client
	// waiting is how many of them wait for an answer.
	waiting int
}

// Result is what came of a load.
type Result struct {
	// Requests were all answered right, in so much time.
	Requests int
	Elapsed  time.Duration
	// Latencies are how long each took, the shortest first.
	Latencies []time.Duration
	// Bytes are those of the bodies of the answers.
	Bytes int
}

// PerSecond is how many requests were answered in a second.
func (r Result) PerSecond() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// mostCalls is how many different calls a connection makes before it begins again.
const mostCalls = 2000

// call is a request as it is sent.
type call struct {
	requests.Call
	text []byte
}

// client is one connection with its calls.
type client struct {
	load       *Load
	connection *connection
	calls      []call
	latencies  []time.Duration
	bytes      int
	samples    []sample
	// sent is how many requests were answered, and call the one that waits for its answer since it began.
	sent  int
	call  call
	began time.Time
}

// sample is an answer that is looked at when nothing is measured any more.
type sample struct {
	call
	body []byte
}

// Prepare connects and writes the calls. The seed varies them.
func Prepare(kind *requests.Kind, w data.World, host string, connections int, seed uint64) (*Load, error) {
	l := &Load{Kind: kind, World: w, Host: host}
	for i := range connections {
		conn, err := dial(host)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}

		c := &client{load: l, connection: conn}
		l.clients = append(l.clients, c)
		next := kind.Calls(w, requests.Share{Connection: i, Of: connections, Seed: seed})
		for len(c.calls) < mostCalls {
			one, more := next()
			if !more {
				break
			}
			text, err := kind.HTTP(host, one)
			if err != nil {
				return nil, errors.Join(err, l.Close())
			}
			c.calls = append(c.calls, call{one, text})
		}

		if err := c.greet(); err != nil {
			return nil, errors.Join(err, l.Close())
		}
		if len(c.calls) == 0 {
			return nil, errors.Join(
				fmt.Errorf("%s has nothing to ask for among %d deployments", kind.Name, w.Deployments), l.Close(),
			)
		}
	}

	return l, nil
}

// greet sends the simplest request with the token of the first call. An address may have few connections on which no
// token has come yet.
func (c *client) greet() error {
	if len(c.calls) == 0 {
		return nil
	}
	request := requests.Greeting(c.connection.host, c.calls[0].Token)
	status, body, err := c.connection.exchange(request)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the answer to { __typename } is %d %s\n%.300s", status, http.StatusText(status), body)
	}
	return err
}

// Close closes the connections.
func (l *Load) Close() (err error) {
	for _, c := range l.clients {
		err = errors.Join(err, c.connection.close())
	}
	return err
}

// patience is how long the last answers of a load may take.
const patience = 15 * time.Second

// Run sends requests for a time. What writes ends early when everything was written that can be written once. The
// error is the first answer that is wrong, with its request. As pgbench does, it takes one processor at a time for all
// connections.
func (l *Load) Run(ctx context.Context, duration time.Duration) (r Result, err error) {
	answers, err := l.watch()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, answers.close()) }()

	begin := time.Now()
	end := begin.Add(duration)
	l.waiting = 0
	for _, c := range l.clients {
		c.latencies, c.samples, c.bytes, c.sent = c.latencies[:0], nil, 0, 0
		if err := c.next(begin, end); err != nil {
			return r, err
		}
	}

	for l.waiting > 0 {
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if time.Now().After(end.Add(patience)) {
			return r, fmt.Errorf("%s: %d answers have not come within %s", l.Kind.Name, l.waiting, patience)
		}
		err := answers.wait(func(i int) error { return l.clients[i].answered(end) })
		if err != nil {
			return r, err
		}
	}

	r.Elapsed = time.Since(begin)
	for _, c := range l.clients {
		r.Requests += len(c.latencies)
		r.Latencies = append(r.Latencies, c.latencies...)
		r.Bytes += c.bytes
	}

	slices.Sort(r.Latencies)
	return r, nil
}

// Check looks at the answers that were put aside, whole.
func (l *Load) Check() error {
	for _, c := range l.clients {
		for _, s := range c.samples {
			if err := l.Kind.Check(l.World, s.Call, s.body); err != nil {
				return l.wrong(s.call, s.Status, s.body, err)
			}
		}
	}
	return nil
}

// Every so manieth answer of a connection is put aside, the first one too.
const (
	sampleEvery = 100
	mostSamples = 10
)

// next sends the next request, if there is to be one.
func (c *client) next(now, end time.Time) error {
	if now.After(end) || c.sent == len(c.calls) && c.load.Kind.Writes {
		return nil
	}
	c.load.waiting++
	c.call, c.began = c.calls[c.sent%len(c.calls)], now
	return c.connection.send(c.call.text)
}

// answered reads what has come, looks at the answer if it is whole, and sends the next request.
func (c *client) answered(end time.Time) error {
	status, body, whole, err := c.connection.receive()
	if err == nil && !whole {
		return nil
	}

	now := time.Now()
	c.load.waiting--
	if err == nil {
		c.latencies = append(c.latencies, now.Sub(c.began))
		c.bytes += len(body)
		err = checkForm(c.call, status, body)
	}

	if err != nil {
		return c.load.wrong(c.call, status, body, err)
	}
	if c.sent%sampleEvery == 0 && len(c.samples) < mostSamples {
		c.samples = append(c.samples, sample{c.call, bytes.Clone(body)})
	}
	c.sent++

	return c.next(now, end)
}

var errorsMember = []byte(`"errors"`)

// checkForm returns what is wrong with an answer, as far as it can be seen without reading all of it.
func checkForm(c call, status int, body []byte) error {
	switch {
	case status != c.Status:
		return fmt.Errorf("the status is %d, not %d", status, c.Status)
	case bytes.Contains(body, errorsMember):
		return errors.New("it has errors")
	case !bytes.Contains(body, []byte(c.Key)):
		return fmt.Errorf("it lacks %s", c.Key)
	}
	if n := bytes.Count(body, []byte(c.Mark)); n != c.Marks {
		return fmt.Errorf("it has %s %d times, not %d", c.Mark, n, c.Marks)
	}
	return nil
}

// wrong returns the error of a wrong answer, with what was sent, but for its token, and what came back.
func (l *Load) wrong(c call, status int, body []byte, err error) error {
	return fmt.Errorf("wrong answer to %s: %w\n%s %s %s\n%d %s\n%.2000s", l.Kind.Name, err, c.Method, c.Path, c.Variables,
		status, http.StatusText(status), body)
}
