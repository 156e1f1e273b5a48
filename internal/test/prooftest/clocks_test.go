package prooftest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/pure/module"
	"slipway/internal/server"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// offsets are how far the clocks of two servers are from that of the one PostgreSQL that they share, and whether
// the second is ready. The first is.
var offsets = map[string]struct {
	first, second time.Duration
	ready         bool
}{
	"equal":         {0, 0, true},
	"35 s apart":    {-17500 * time.Millisecond, 17500 * time.Millisecond, true},
	"1 h ahead":     {0, time.Hour, false},
	"1 h behind":    {0, -time.Hour, false},
	"25 h ahead":    {0, 25 * time.Hour, false},
	"32 s too late": {0, -32 * time.Second, false},
}

func TestClocksOfServersMayDiffer(t *testing.T) {
	t.Parallel()
	for name, o := range offsets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Postgres(t))
			begun := time.Now()
			both := &skewed{w: w, servers: [2]*worldtest.World{at(t, w, o.first), at(t, worldtest.Another(t, w.DatabaseURL), o.second)}}
			n := testkit.Often(2, 20)
			p := w.Fixture(t, w.Acme, "web")
			for i := range n {
				both.held(t, p, i)
				both.lapsed(t, p, i)
				both.key(t, p, i)
				both.token(t, i)
			}
			wantReady(t, w, "the first", o.first, true)
			wantReady(t, w, "the second", o.second, o.ready)
			proved.note(t, begun, "%d leases held and %d lost, %d keys, %d tokens, as with equal clocks; the second server ready: %t", n, n, n, 2*n, o.ready)
		})
	}
}

// skewed are two servers of one database whose clocks differ.
type skewed struct {
	w       *worldtest.World
	servers [2]*worldtest.World
}

// at is a world whose server's clock is ahead of the machine's, which is the database's too.
func at(t *testing.T, w *worldtest.World, ahead time.Duration) *worldtest.World {
	t.Helper()
	return w.Serving(t, func(c *server.Config) {
		c.Lease = time.Minute
		c.Now = func() time.Time { return store.Now().Add(ahead) }
	})
}

func (s *skewed) db(t *testing.T, statement string, args ...any) {
	t.Helper()
	db := s.w.Raw(t, s.w.Acme)
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// claim makes a deployment and claims it by the i-th server; it returns the lease.
func (s *skewed) claim(t *testing.T, p *worldtest.Fixture, instance string, i int) (*ent.Deployment, *execution.Lease) {
	t.Helper()
	p.Deploy(t, p.NewInstance(t, instance).ID, `{"image":"web:1"}`)
	d, lease, err := s.servers[i%2].Deploy.Execution.Claim(s.w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes})
	if err != nil || d == nil {
		t.Fatalf("%v, %v", d, err)
	}
	return d, lease
}

// kept says that the servers were at work all the time, however slow the machine is: no lease is spared.
func (s *skewed) kept(t *testing.T) {
	t.Helper()
	if err := s.w.NoteSweep(store.Now(), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
}

// sweep lets both servers sweep, the i-th first, which is to find all that has run out.
func (s *skewed) sweep(t *testing.T, i, want int) {
	t.Helper()
	for j := range s.servers {
		if n, err := s.servers[(i+j)%2].Deploy.Execution.ExpireLeases(t.Context()); n != want || err != nil {
			t.Errorf("%d leases ran out, want %d, %v", n, want, err)
		}
		want = 0
	}
}

// held wants a lease that one server has granted to be held before the other.
func (s *skewed) held(t *testing.T, p *worldtest.Fixture, i int) {
	t.Helper()
	runner := s.w.Acme.As(actor.Runner)
	d, lease := s.claim(t, p, fmt.Sprint("held-", i), i)
	s.kept(t)
	s.sweep(t, i, 0)
	for _, server := range s.servers {
		if _, l, err := server.Deploy.Execution.RenewLease(runner, d.ID, lease.ID); err != nil || l.Seconds != 60 {
			t.Errorf("renewed: %+v, %v", l, err)
		}
		if _, l, err := server.Deploy.Execution.Report(runner, d.ID, lease.ID, execution.Report{}); err != nil || l.Seconds != 60 {
			t.Errorf("reported: %+v, %v", l, err)
		}
		s.sweep(t, i, 0)
	}
	if _, err := s.servers[(i+1)%2].Deploy.Execution.End(runner, d.ID, lease.ID, execution.Completion{}); err != nil {
		t.Error(err)
	}
}

// lapsed wants a lease that has run out by the database's clock to be lost before both, and swept by either.
func (s *skewed) lapsed(t *testing.T, p *worldtest.Fixture, i int) {
	t.Helper()
	d, lease := s.claim(t, p, fmt.Sprint("lapsed-", i), i)
	s.kept(t)
	s.db(t, `UPDATE deployments SET lease_expires_at = clock_timestamp() WHERE id = $1`, d.ID)
	for _, server := range s.servers {
		if _, _, err := server.Deploy.Execution.RenewLease(s.w.Acme.As(actor.Runner), d.ID, lease.ID); !fault.Is(err, fault.DeploymentLeaseLost) {
			t.Errorf("renewed: %v", err)
		}
	}
	s.sweep(t, i, 1)
}

// key wants a request under a key to be known again by the other server, also after that has purged old keys, and
// no more when 24 hours have passed by the database's clock.
func (s *skewed) key(t *testing.T, p *worldtest.Fixture, i int) {
	t.Helper()
	done := p.Finish(t, p.Deploy(t, p.NewInstance(t, fmt.Sprint("key-", i)).ID, `{"image":"web:1"}`), nil)
	c := newClient(t, s.w.Acme.Tokens[actor.Developer], 1)
	again := func() string {
		var ids []string
		for j := range s.servers {
			from := s.servers[(i+j)%2]
			a, err := c.send(t.Context(), from.URL, request{source: done.ID, key: done.ID})
			if err != nil || !a.made() {
				t.Fatalf("%+v, %v", a, err)
			}
			ids = append(ids, a.id)
			if _, err := from.Retention.Purge(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if ids[0] != ids[1] {
			t.Errorf("one key made %s and %s", ids[0], ids[1])
		}
		return ids[0]
	}
	first := again()
	s.w.Cancel(t, s.w.Acme, first)
	s.db(t, `UPDATE idempotency_keys SET created_at = clock_timestamp() - interval '24 hours' WHERE key = $1`, done.ID)
	second := again()
	if second == first {
		t.Error("a key is known for longer than 24 hours")
	}
	s.w.Cancel(t, s.w.Acme, second)
}

// token wants a token that one server has made to be good for both until it ends by the database's clock.
func (s *skewed) token(t *testing.T, i int) {
	t.Helper()
	system := actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System, OrganizationID: s.w.Acme.ID, Channel: actor.CLI})
	for expected, ends := range map[int]string{http.StatusOK: "", http.StatusUnauthorized: `UPDATE tokens SET expires_at = clock_timestamp() WHERE id = $1`} {
		made, secret, err := s.servers[i%2].Accounts.CreateToken(system, account.NewToken{Name: "ci", Role: actor.Viewer, ExpiresIn: 30 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if ends != "" {
			s.db(t, ends, made.ID)
		}
		for _, server := range s.servers {
			if got := server.REST(t, http.MethodGet, "/module-definitions", secret.Reveal(), "", nil); got.Status != expected {
				t.Errorf("answered %d %s, want %d", got.Status, got.Body, expected)
			}
		}
	}
}

// wantReady wants a server to be ready or not, and to say how far its clock is off.
func wantReady(t *testing.T, w *worldtest.World, which string, ahead time.Duration, ready bool) {
	t.Helper()
	offset := server.Offset{Database: w.Store.Clock, Now: func() time.Time { return store.Now().Add(ahead) }}
	health := &server.Health{Ping: w.Store.Ping, Offset: offset.Measure}
	answered := httptest.NewRecorder()
	health.Handler().ServeHTTP(answered, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	text := answered.Body.String()
	if ready && answered.Code != http.StatusOK || !ready && (answered.Code != http.StatusServiceUnavailable || !strings.Contains(text, "the server's clock differs")) {
		t.Errorf("%s server answers %d %s", which, answered.Code, text)
	}
}
