package attacktest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"slipway/internal/base/actor"
)

// lasting is an operation that would run long where cost were not limited.
type lasting struct {
	name, query string
	variables   func(stock) object
}

func lastings() []lasting {
	words := inputsOf(texts, `{"a":[`+strings.Repeat(`"word",`, 28_000)+`"word"]}`)
	unknown := inputsOf(anObject, "{"+members(20_000, `"u%d":1`)+"}")
	title := inputsOf("["+array(aText, `,"item_title":{"template":"`+strings.Repeat("{x}", 3000)+`"}`)+"]", items(1000, `{"x":"`+strings.Repeat("x", 100)+`"}`))
	defaults := inputsOf("["+array(`[{"id":"x","label":"L","type":"text","default":"`+strings.Repeat("d", 9000)+`"}]`)+"]", items(12_000, "{}"))
	leaved := func(s stock) object { return object{"f": s.left, "t": s.right} }
	params := fixed(object{"p": raw("{" + members(18_000, `"p%d":"x"`) + "}")})
	return []lasting{
		{"values that are judged", onInputs(30, validate), words},
		{"values that are resolved", onInputs(30, resolve), words},
		{"keys that are refused", onInputs(30, validate), unknown},
		{"titles that are made", onInputs(29, titles), title},
		{"defaults that are filled in", onInputs(29, resolve), defaults},
		{"releases that are compared", "query($f: ID!, $t: ID!) " + aliased(29, "compareDeployments(fromId: $f, toId: $t) { sameRelease inputs { pointer } }"), leaved},
		{"parameters that are refused", "query($p: JSON!) " + aliased(29, `dynamicValues(source: "projects", params: $p) { totalCount }`), params},
	}
}

// unlimited is how much memory an operation may take whose cost is not limited, in bytes.
const unlimited = 256 << 20

// late are attacks by what would run long after the time that a request has.
func late() (all []attack) {
	const overtime = `\d+ (.+ and )?Request:TIMEOUT( and .+)?`
	for _, l := range lastings() {
		// A machine that is fast is done in time, and then refuses what is to be refused.
		a := probe(l.name+" when time is up", overtime+"|200 Request:INVALID|"+within, actor.Viewer, l.query, l.variables)
		a.cpu, a.memory, a.why = 1200*time.Millisecond, unlimited, "two cores for 500 ms of time and 50 more, and reading the request; cost is not limited"
		all = append(all, a)
	}
	return all
}

// left are attacks by callers who are gone before they are answered.
func left() (all []attack) {
	for _, l := range lastings() {
		all = append(all, attack{
			name: l.name + " for a caller who has left", want: "left|200|" + bounded,
			cpu: 300 * time.Millisecond, memory: unlimited, why: "the caller stays for 50 ms of CPU time, and 50 ms on two cores follow; cost is not limited",
			run: func(ctx context.Context, c *caller) (string, error) { return c.leave(ctx, l) },
		})
	}
	return all
}

// leave asks for an operation and goes away when the server has worked on it for a while.
func (c *caller) leave(ctx context.Context, l lasting) (string, error) {
	body, err := operation(l.query, l.variables(c.stock))
	if err != nil {
		return "", err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	busy := newMeter(c.server, "").busyFor(5 * tick)
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nAccept: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.token, media, len(body), body)
	if err != nil {
		return "", err
	}
	answered := make(chan string, 1)
	go func() {
		got, err := heard(bufio.NewReader(conn))
		if err != nil {
			got = err.Error()
		}
		answered <- got
	}()
	for look := time.NewTicker(tick); ; <-look.C {
		select {
		case got := <-answered:
			return got, nil
		default:
		}
		if busy() {
			_ = conn.(*net.TCPConn).SetLinger(0)
			return "left", conn.Close()
		}
	}
}

// busyFor reports whether the server has used a time of CPU since then.
func (m *meter) busyFor(long time.Duration) func() bool {
	before, err := m.read()
	return func() bool {
		now, again := m.read()
		return err != nil || again != nil || now.cpu-before.cpu >= long
	}
}
