package prooftest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"slipway/internal/base/actor"
	"slipway/internal/service/account"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// TestHostileReadersHoldUpNobody has a tenant's tokens open streams, each of which resumes and takes nothing of what it is
// sent, while an address has more silent connections than it may. Another tenant resumes, hears of a change, claims and
// reads all the same, each time over a new connection of the same address.
func TestHostileReadersHoldUpNobody(t *testing.T) {
	t.Parallel()
	program := built.Path(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		besieged(t, program, worldtest.SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		besieged(t, program, worldtest.Postgres(t))
	})
}

func besieged(t *testing.T, program, database string) {
	t.Helper()
	streams, tokens, silent, rounds := testkit.Often(95, 500), testkit.Often(4, 10), 300, testkit.Often(1, 20)
	w := worldtest.New(t, database)
	theirs, mine := w.Fixture(t, w.Globex, "web"), w.Fixture(t, w.Acme, "web")
	before, err := w.Deploy.View.Feed.Head(w.Globex.As(actor.Viewer))
	must(t, err)
	for range 3 { // of which one item is more than what a connection keeps
		theirs.Finish(t, theirs.Deploy(t, theirs.Instance.ID, `{"image":"`+strings.Repeat("x", 4000)+`"}`), nil)
	}
	var hostile []string
	for i := range tokens {
		hostile = append(hostile, w.Token(t, w.Globex, account.NewToken{Name: fmt.Sprint("hostile-", i), Role: actor.Viewer}))
	}
	start, err := w.Deploy.View.Feed.Head(w.Acme.As(actor.Viewer))
	must(t, err)
	v := &neighbour{source: mine.Succeeded(t).ID, after: start.String(), tokens: w.Acme.Tokens}
	must(t, w.Store.Close()) // the file is to be the server's alone
	begun := time.Now()
	c := exec.CommandContext(t.Context(), program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "", "--log-format", "json",
		"--write-timeout", "1h") // so that none is cut off meanwhile
	c.Env = []string{}
	v.url = testkit.Serve(t, c).API

	alone := v.errands(t, rounds)
	readers := &idleReaders{url: v.url, after: before.String(), stop: t.Context()}
	t.Cleanup(readers.close)
	readers.open(t, streams, hostile)
	readers.beSilent(t, silent)
	beside := v.errands(t, rounds)
	var told []string
	for i, what := range errands {
		quick, slow := median(alone[i]), median(beside[i])
		told = append(told, fmt.Sprintf("%s %s, alone %s", what, slow, quick))
		if testkit.Proving() && slow > 10*quick {
			t.Errorf("%s takes %s beside them, %s alone", what, slow, quick)
		}
	}
	proved.note(t, begun, "%d streams of %d tokens take nothing, %d connections say nothing: %s", streams, tokens, silent, strings.Join(told, "; "))
}

// errands are what a neighbour does.
var errands = []string{"a resumption", "a stream", "a claim", "a read"}

// neighbour is a tenant who wants its work done.
type neighbour struct {
	url, source, after string
	tokens             map[actor.Role]string
}

// errands returns how long each of errands takes, time after time.
func (v *neighbour) errands(t *testing.T, rounds int) (took [4][]time.Duration) {
	t.Helper()
	for range rounds {
		last := v.after
		timed := func(i int, do func()) {
			begun := time.Now()
			do()
			took[i] = append(took[i], time.Since(begun))
		}
		timed(0, func() { last = v.until(t, v.after, func(i feedItem) bool { return i.Kind == "COMPLETED" }, nil) })
		timed(1, func() {
			v.until(t, last, func(i feedItem) bool { return i.Kind == "CREATED" }, func() {
				c := newClient(t, v.tokens[actor.Developer], 1)
				defer c.http.CloseIdleConnections()
				if a, err := c.send(t.Context(), v.url, request{source: v.source}); err != nil || !a.made() {
					t.Errorf("a rollback: %+v, %v", a, err)
				}
			})
		})
		var claimed struct {
			ClaimDeployment struct {
				Deployment, Lease *struct{ ID string }
			}
		}
		timed(2, func() {
			v.ask(t, actor.Runner, `mutation { claimDeployment(input: {deploymentTypes: ["aws:ecs", "terraform"]}) { deployment { id } lease { id } } }`, &claimed)
		})
		if claimed.ClaimDeployment.Deployment == nil {
			t.Fatal("nothing waits to be claimed")
		}
		timed(3, func() {
			v.ask(t, actor.Viewer, `{ deployments(first: 10) { nodes { id status release { inputs } } } }`, &struct{}{})
		})
		v.ask(t, actor.Runner, fmt.Sprintf(`mutation { completeDeployment(input: {id: %q, leaseId: %q}) { deployment { id } } }`,
			claimed.ClaimDeployment.Deployment.ID, claimed.ClaimDeployment.Lease.ID), &struct{}{})
		v.after = last
	}
	return took
}

// until follows changes after a cursor until one is the wanted one, and returns its cursor. begin, if it is not nil, is
// called meanwhile.
func (v *neighbour) until(t *testing.T, after string, isWanted func(feedItem) bool, begin func()) (cursor string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	var beside sync.WaitGroup
	defer beside.Wait()
	if begin != nil {
		beside.Go(begin)
	}
	err := openEvents(ctx, v.url, v.tokens[actor.Viewer], after, func(i feedItem) {
		if cursor == "" && isWanted(i) {
			cursor = i.Cursor
			cancel()
		}
	})
	if cursor == "" {
		t.Fatalf("it does not come: %v", err)
	}
	return cursor
}

// ask asks for an operation over a new connection, which must succeed.
func (v *neighbour) ask(t *testing.T, role actor.Role, query string, data any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.url+"/graphql", bytes.NewReader(mustJSON(map[string]any{"query": query})))
	must(t, err)
	r.Header = http.Header{"Authorization": {"Bearer " + v.tokens[role]}, "Content-Type": {"application/json"}}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"errors"`)) {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	must(t, json.Unmarshal(text, &struct{ Data any }{data}))
}

// idleReaders are streams that resume and take nothing but the beginning of their first item, and silent connections.
type idleReaders struct {
	url, after string
	stop       context.Context //nolint:containedctx // that of the test

	mu    sync.Mutex
	conns []io.Closer
}

func (r *idleReaders) keep(c io.Closer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
}

func (r *idleReaders) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
}

// open opens streams of the tokens, half of them event streams and half sockets, until the first item of each has begun.
func (r *idleReaders) open(t *testing.T, n int, tokens []string) {
	t.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			open := r.events
			if i%2 == 1 {
				open = r.socket
			}
			if err := open(tokens[i%len(tokens)]); err != nil {
				t.Errorf("stream %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// dial opens a connection whose end here keeps little.
func (r *idleReaders) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	r.keep(conn)
	return conn, errors.Join(conn.(*net.TCPConn).SetReadBuffer(4<<10), conn.SetReadDeadline(time.Now().Add(testkit.Patience)))
}

// body is a subscription to what is after the cursor, with large items.
func (r *idleReaders) body() []byte {
	var releases strings.Builder
	for i := range 28 {
		fmt.Fprintf(&releases, "a%d: release { inputs } ", i)
	}
	return mustJSON(map[string]any{
		"query":     `subscription($after: String) { deploymentsChanged(after: $after) { cursor kind deployment { id ` + releases.String() + ` } } }`,
		"variables": map[string]any{"after": r.after},
	})
}

func (r *idleReaders) events(token string) error {
	address := strings.TrimPrefix(r.url, "http://")
	conn, err := r.dial(r.stop, "tcp", address)
	if err != nil {
		return err
	}
	body := r.body()
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
		address, token, len(body), body)
	in := bufio.NewReaderSize(conn, 512)
	for line := ""; err == nil && !strings.HasPrefix(line, "event: next"); {
		line, err = in.ReadString('\n')
	}
	return err
}

func (r *idleReaders) socket(token string) error {
	client := &http.Client{Transport: &http.Transport{DialContext: r.dial}}
	conn, resp, err := websocket.Dial(r.stop, r.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPClient: client})
	if err != nil {
		return err
	}
	_ = resp // has no body
	r.keep(closeNow{conn})
	if err := conn.Write(r.stop, websocket.MessageText, []byte(`{"type":"connection_init","payload":{"Authorization":"Bearer `+token+`"}}`)); err != nil {
		return err
	}
	if _, _, err := conn.Read(r.stop); err != nil { // its acknowledgement
		return err
	}
	if err := conn.Write(r.stop, websocket.MessageText, []byte(`{"id":"1","type":"subscribe","payload":`+string(r.body())+`}`)); err != nil {
		return err
	}
	_, _, err = conn.Reader(r.stop) // the message has begun, and is not read
	return err
}

// beSilent opens connections on which nothing is said.
func (r *idleReaders) beSilent(t *testing.T, n int) {
	t.Helper()
	for range n {
		_, err := r.dial(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
		must(t, err)
	}
}
