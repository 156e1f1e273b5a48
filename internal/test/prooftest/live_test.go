package prooftest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"slipway/internal/base/actor"
	"slipway/internal/pure/event"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// Subscriptions of the live proof: one that nothing is sent of, and one that a deployment's changes are sent of.
const (
	idleStream = `subscription { deploymentsChanged(filter: {projectId: \"prj_none\"}) { cursor } }`
	oneStream  = `subscription { deploymentChanged(id: \"%s\") { kind version deployment { status updatedAt } } }`
)

// TestLiveStreamsAreCheap opens streams on a server, half of them event streams and half sockets, and finds out what
// each of them takes while nothing changes, and how late they hear of what another server changes.
func TestLiveStreamsAreCheap(t *testing.T) { //nolint:paralleltest // what the process takes is measured
	w := worldtest.New(t, worldtest.Postgres(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	lease := p.Claim(t, d)
	begun := time.Now()
	count, listening := testkit.Often(60, 10_000), testkit.Often(20, 1000)
	program := built.Path(t)
	s := serveStreams(t, program, w.DatabaseURL, count)
	idle := testkit.Often(2*time.Second, 20*time.Second)

	open := &openStreams{t: t, url: s.API, token: w.Acme.Tokens[actor.Viewer], heard: make(chan time.Time, 4*listening)}
	defer open.close()
	open.add(2, idleStream, nil) // what only the first takes
	before, usual := heapOf(t, s), transactionsWhile(t, w, idle)
	open.add(count-listening-2, idleStream, nil)
	open.add(listening, fmt.Sprintf(oneStream, d.ID), open.heard)
	for range listening {
		<-open.heard // the deployment as it is
	}
	each := (heapOf(t, s) - before) / count
	transactionsWhile(t, w, testkit.Often(2*time.Second, 12*time.Second)) // until the sessions have told of what it took to open them
	statements := transactionsWhile(t, w, idle)

	change := func() time.Time {
		if _, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{Events: []event.Event{{Message: new("on")}}}); err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
	var all []time.Duration
	for range testkit.Often(3, 200) {
		changed, last := change(), time.Time{}
		for range listening {
			last = <-open.heard
		}
		all = append(all, last.Sub(changed))
	}
	quick := underLoad(t, w, s.API, serve(t, program, w.DatabaseURL).API, p)
	if testkit.Proving() && each > 40<<10 {
		t.Errorf("each stream takes %d bytes, want at most 40 KiB", each)
	}
	// Two streams had the feed's tick and the token's look-ups already. What the sessions tell comes late at times.
	if most := usual*3/2 + 10; testkit.Proving() && statements > most {
		t.Errorf("%d transactions within %s while nothing changes, want about the %d of two streams", statements, idle, usual)
	}
	proved.note(t, begun, "%d streams take %.1f KiB each; %d transactions in %s while nothing changes, %d for two streams; %d hear a change after %s, p99 %s, at most %s; a rollback by REST at another server after %s, p99 %s",
		count, float64(each)/1024, statements, idle, usual, listening, median(all), percentile(all, 99), slices.Max(all), median(quick), percentile(quick, 99))
}

// serveStreams starts a server that takes so many streams of one caller.
func serveStreams(t *testing.T, program, database string, streams int) *testkit.Server {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "",
		"--debug-listen", "127.0.0.1:0", "--log-format", "json", "--max-requests-per-caller", "0", "--cost-capacity", "0",
		"--max-streams-per-caller", "0", "--max-streams-per-organization", "0", "--max-streams", strconv.Itoa(streams+10), "--max-anonymous-connections", "100000")
	c.Env = []string{}
	return testkit.Serve(t, c)
}

var memory = regexp.MustCompile(`(?m)^# (?:HeapAlloc = |Stack = )(\d+)`)

// heapOf returns the bytes that the server's heap and its stacks have in use, some collections later: with each of them
// a stack that is mostly empty shrinks by half.
func heapOf(t *testing.T, s *testkit.Server) (sum int) {
	t.Helper()
	for range 4 {
		get(t, s.Profiles+"/debug/pprof/heap?gc=1&debug=1")
	}
	text := get(t, s.Profiles+"/debug/pprof/heap?gc=1&debug=1")
	for _, found := range memory.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(found[1])
		must(t, err)
		sum += n
	}
	return sum
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	must(t, err)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return string(text)
}

// transactionsWhile returns how many transactions the database has carried out by the end of a time, as far as its
// sessions have told.
func transactionsWhile(t *testing.T, w *worldtest.World, wait time.Duration) (n int) {
	t.Helper()
	db := w.Raw(t, w.Acme)
	count := func() (n int) {
		must(t, db.QueryRowContext(t.Context(), "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()").Scan(&n))
		return n
	}
	before := count()
	<-time.After(wait)
	return count() - before
}

// underLoad returns how late a subscriber of a server hears of each rollback that is started by REST at another, beside a
// hundred other changes a second. The time is counted from when the request is sent.
func underLoad(t *testing.T, w *worldtest.World, listening, asked string, p *worldtest.Fixture) (late []time.Duration) {
	t.Helper()
	source := p.Finish(t, p.Deploy(t, p.NewInstance(t, "loaded").ID, `{"image":"web:1"}`), nil)
	open := &openStreams{t: t, url: listening, token: w.Acme.Tokens[actor.Viewer], heard: make(chan time.Time, 1)}
	defer open.close()
	open.add(1, fmt.Sprintf(`subscription { deploymentsChanged(filter: {moduleInstanceId: \"%s\", statuses: PENDING}) { kind } }`, source.ModuleInstanceID), open.heard)
	// The changes between those that are measured are of others.
	noise, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	for k := range 4 {
		other := p.Deploy(t, p.NewInstance(t, fmt.Sprintf("noise-%d", k)).ID, `{"image":"web:1"}`)
		held := p.Claim(t, other)
		others.Go(func() {
			tick := time.NewTicker(45 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-noise.Done():
					return
				case <-tick.C:
					_, _, _ = w.Deploy.Execution.Report(w.Acme.As(actor.Runner), other.ID, held, execution.Report{Events: []event.Event{{Message: new("on")}}})
				}
			}
		})
	}
	c := newClient(t, w.Acme.Tokens[actor.Developer], 1)
	for i := range testkit.Often(5, 200) {
		sent := time.Now()
		a, err := c.send(t.Context(), asked, request{source: source.ID, id: "loaded-" + strconv.Itoa(i)})
		if err != nil || !a.made() {
			t.Fatalf("%+v, %v", a, err)
		}
		late = append(late, (<-open.heard).Sub(sent))
		made, err := w.Store.Client.Deployment.Get(w.Acme.As(actor.Viewer), a.id)
		must(t, err)
		p.Finish(t, made, nil)
	}
	return late
}

// openStreams are streams that a proof has open.
type openStreams struct {
	t          *testing.T
	url, token string
	heard      chan time.Time

	mu    sync.Mutex
	conns []interface{ Close() error }
}

// add opens more streams, half of them sockets. Each sends the time of every item.
func (o *openStreams) add(n int, query string, heard chan<- time.Time) {
	o.t.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			open := o.openEvents
			if i%2 == 1 {
				open = o.openSocket
			}
			if err := open(query, heard); err != nil {
				o.t.Error(err)
			}
		})
	}
	all.Wait()
	if o.t.Failed() {
		o.t.FailNow()
	}
}

func (o *openStreams) keep(c interface{ Close() error }) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conns = append(o.conns, c)
}

func (o *openStreams) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.conns {
		_ = c.Close()
	}
}

// openEvents opens an event stream on a connection of its own, and waits until it has begun.
func (o *openStreams) openEvents(query string, heard chan<- time.Time) error {
	address := strings.TrimPrefix(o.url, "http://")
	var dialer net.Dialer
	conn, err := dialer.DialContext(o.t.Context(), "tcp", address)
	if err != nil {
		return err
	}
	o.keep(conn)
	body := `{"query":"` + query + `"}`
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
		address, o.token, len(body), body)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, 512)
	for line := ""; line != ":\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			return fmt.Errorf("the stream does not begin: %q, %w", line, err)
		}
	}
	go func() {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if heard != nil && strings.HasPrefix(line, "data: {") {
				heard <- time.Now()
			}
		}
	}()
	return nil
}

// openSocket opens a WebSocket with one subscription.
func (o *openStreams) openSocket(query string, heard chan<- time.Time) error {
	ctx := o.t.Context()
	conn, resp, err := websocket.Dial(ctx, o.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return err
	}
	_ = resp // has no body
	o.keep(closeNow{conn})
	for _, message := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer ` + o.token + `"}}`,
		`{"id":"1","type":"subscribe","payload":{"query":"` + query + `"}}`,
		`{"type":"ping"}`,
	} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return err
		}
		if strings.Contains(message, "init") {
			if _, _, err := conn.Read(ctx); err != nil { // its acknowledgement
				return err
			}
		}
	}
	pong := make(chan struct{})
	go func() {
		for {
			_, text, err := conn.Read(context.Background())
			switch {
			case err != nil:
				return
			case strings.Contains(string(text), `"pong"`):
				close(pong)
			case heard != nil:
				heard <- time.Now()
			}
		}
	}()
	<-pong
	return nil
}

type closeNow struct{ *websocket.Conn }

func (c closeNow) Close() error { return c.CloseNow() }

func median(list []time.Duration) time.Duration { return percentile(list, 50) }

// percentile returns the value below which that many percent are.
func percentile(list []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)].Round(100 * time.Microsecond)
}
