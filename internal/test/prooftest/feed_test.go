package prooftest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/event"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestFeedLosesNothingAndDoublesNothing(t *testing.T) {
	t.Parallel()
	t.Run("sqlite, one server", func(t *testing.T) {
		t.Parallel()
		fed(t, worldtest.New(t, worldtest.SQLite(t)))
	})
	t.Run("postgres, three servers", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Postgres(t))
		fed(t, w, worldtest.Another(t, w.DatabaseURL), worldtest.Another(t, w.DatabaseURL))
	})
}

// fed has writers change deployments on every server while subscribers follow them, lose their connections and come
// back on another server, and lists are joined with their stream. On PostgreSQL the connections that notifications come
// by are cut meanwhile.
func fed(t *testing.T, w *worldtest.World, others ...*worldtest.World) {
	t.Helper()
	random := seeded(t)
	servers := append([]*worldtest.World{w}, others...)
	writers := testkit.Often(8, 16)
	load := newFeedLoad(t, w, servers, writers, testkit.Often(400, 20_000))
	begun := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var following sync.WaitGroup
	var list []*subscriber
	for i := range testkit.Often(6, 18) {
		s := newSubscriber(w, servers, random.Uint64(), i)
		s.readList(t, w)
		list = append(list, s)
		following.Go(func() { s.run(ctx, t) })
	}
	var writing sync.WaitGroup
	for i := range writers {
		seed := random.Uint64()
		writing.Go(func() { load.write(t, i, rand.New(rand.NewPCG(seed, seed))) })
	}
	kills := 0
	if w.Store.Postgres() {
		kills = load.cutListeners(t, testkit.Often(2, 10))
	}
	writing.Wait()
	for load.carryOut(t, w.Deploy, random) { // what still waits
	}
	want := lastVersions(w)
	for _, s := range list {
		testkit.Eventually(t, fmt.Sprintf("subscriber %d knows the last versions", s.number), func() bool { return s.knows(want) })
	}
	stop()
	following.Wait()
	reconnects := 0
	for _, s := range list {
		s.check(t, want)
		reconnects += s.connections
	}
	proved.note(t, begun, "%d changes of %d deployments by %d writers on %d servers, listeners cut %d times: %d subscribers over %d connections have every last version",
		load.done.Load(), len(want), writers, len(servers), kills, len(list), reconnects)
}

// feedLoad changes deployments.
type feedLoad struct {
	*worldtest.Fixture
	servers   []*worldtest.World
	org       *worldtest.Org
	instances []string
	// changes is how many there are to be, done how many there were.
	changes int64
	done    atomic.Int64
}

func newFeedLoad(t *testing.T, w *worldtest.World, servers []*worldtest.World, writers, changes int) *feedLoad {
	t.Helper()
	l := &feedLoad{Fixture: w.Fixture(t, w.Acme, "web"), servers: servers, org: w.Acme, changes: int64(changes)}
	for i := range writers {
		l.instances = append(l.instances, l.NewInstance(t, fmt.Sprintf("web-%d", i)).ID)
	}
	return l
}

// write creates deployments, one after the other, and carries out whatever there is, until there were enough changes.
func (l *feedLoad) write(t *testing.T, writer int, random *rand.Rand) {
	ctx := l.org.As(actor.Developer)
	for l.done.Load() < l.changes && !t.Failed() {
		services := l.servers[random.IntN(len(l.servers))].Deploy
		made, _, err := services.Propose.Create(ctx, propose.New{
			InstanceID: l.instances[writer], VersionID: l.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`),
			Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(l.servers[0].DataOf(l.org, l.instances[writer])),
		})
		if err == nil {
			l.done.Add(1)
			if random.IntN(4) == 0 { // while another may claim it
				if _, err := services.Execution.Cancel(ctx, made.ID, nil); err == nil {
					l.done.Add(1)
				}
			}
		}
		l.carryOut(t, services, random)
	}
}

// carryOut carries out a deployment that waits, with reports to any server, and reports whether there was one.
func (l *feedLoad) carryOut(t *testing.T, services *deployment.Services, random *rand.Rand) bool {
	runner := l.org.As(actor.Runner)
	claimed, lease, err := services.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
	if err != nil || claimed == nil {
		if err != nil {
			t.Error(err)
		}
		return false
	}
	reports := random.IntN(8)
	for range reports {
		where := l.servers[random.IntN(len(l.servers))].Deploy
		if _, _, err := where.Execution.Report(runner, claimed.ID, lease.ID, execution.Report{Events: []event.Event{{Message: new("on")}}}); err != nil {
			t.Error(err)
		}
	}
	if _, err := services.Execution.End(runner, claimed.ID, lease.ID, execution.Completion{}); err != nil {
		t.Error(err)
	}
	l.done.Add(int64(2 + reports))
	return true
}

// cutListeners ends the connections that notifications come by, so many times while changes are made, and returns how
// many times there were any.
func (l *feedLoad) cutListeners(t *testing.T, times int) (cut int) {
	t.Helper()
	db := l.servers[0].Raw(t, l.org)
	for i := range times {
		testkit.Eventually(t, "there are enough changes and listeners to be cut", func() bool {
			if l.done.Load() < l.changes*int64(i+1)/int64(times+1) {
				return false
			}
			n := 0
			err := db.QueryRowContext(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND query LIKE 'LISTEN%'`).Scan(&n)
			return err != nil || n > 0
		})
		cut++
	}
	return cut
}

// lastVersions returns the last version of every deployment.
func lastVersions(w *worldtest.World) map[string]int32 {
	last := map[string]int32{}
	for _, d := range w.Store.Client.Deployment.Query().AllX(w.Acme.As(actor.Viewer)) {
		last[d.ID] = d.Version
	}
	return last
}

// subscriber follows the deployments of an organization over connections that it drops at random. One in three reads
// the list anew for each of them, the others go on behind the last cursor.
type subscriber struct {
	number  int
	token   string
	servers []*worldtest.World
	random  *rand.Rand
	lists   bool
	socket  bool
	// connections is how many there were, cursor that of the last item.
	connections int
	cursor      string

	mu                         sync.Mutex
	versions                   map[string]int32
	created, completed, broken map[string]int
}

func newSubscriber(w *worldtest.World, servers []*worldtest.World, seed uint64, number int) *subscriber {
	return &subscriber{
		number: number, token: w.Acme.Tokens[actor.Viewer], servers: servers, random: rand.New(rand.NewPCG(seed, seed)),
		lists: number%3 == 2, socket: number%2 == 1,
		versions: map[string]int32{}, created: map[string]int{}, completed: map[string]int{}, broken: map[string]int{},
	}
}

// run follows until the context ends.
func (s *subscriber) run(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		at := s.servers[s.random.IntN(len(s.servers))]
		if s.lists {
			s.readList(t, at)
		}
		connection, drop := context.WithCancel(ctx)
		left := 1 + s.random.IntN(testkit.Often(40, 400))
		open := openEvents
		if s.socket {
			open = openSocket
		}
		s.connections++
		err := open(connection, at.URL, s.token, s.cursor, func(item feedItem) {
			s.see(item)
			if left--; left == 0 {
				drop()
			}
		})
		if err != nil && connection.Err() == nil {
			t.Errorf("subscriber %d: %v", s.number, err)
			drop()
			return
		}
		drop()
	}
}

// readList takes what the list shows for known, and goes on from its place in the feed.
func (s *subscriber) readList(t *testing.T, at *worldtest.World) {
	after, cursor := any(nil), ""
	for more := true; more; {
		r := at.GraphQL(t, s.token, `query($after: String) { deployments(first: 100, after: $after) { feedCursor nodes { id version } pageInfo { hasNextPage endCursor } } }`,
			map[string]any{"after": after})
		if r.Status != http.StatusOK {
			t.Errorf("subscriber %d: the list is answered %d: %s", s.number, r.Status, r.Body)
			return
		}
		if cursor == "" {
			cursor = r.Text(t, "data", "deployments", "feedCursor")
		}
		var page struct {
			Data struct {
				Deployments struct {
					Nodes []struct {
						ID      string
						Version int32
					}
				}
			}
		}
		if err := json.Unmarshal(r.Body, &page); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		for _, node := range page.Data.Deployments.Nodes {
			s.versions[node.ID] = max(s.versions[node.ID], node.Version)
		}
		s.mu.Unlock()
		if more, _ = r.At(t, "data", "deployments", "pageInfo", "hasNextPage").(bool); more {
			after = r.Text(t, "data", "deployments", "pageInfo", "endCursor")
		}
	}
	s.cursor = cursor
}

// feedItem is an item of the subscription.
type feedItem struct {
	Cursor, Kind string
	Version      int32
	Deployment   struct {
		ID      string
		Version int32
	}
}

// see takes an item. What a list has shown already is known by its version.
func (s *subscriber) see(item feedItem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursor = item.Cursor
	id := item.Deployment.ID
	switch item.Kind {
	case "CREATED":
		s.created[id]++
	case "COMPLETED":
		s.completed[id]++
	}
	if item.Deployment.Version < item.Version || item.Version <= s.versions[id] && !s.lists {
		s.broken[id]++
	}
	s.versions[id] = max(s.versions[id], item.Version)
}

func (s *subscriber) knows(want map[string]int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Equal(s.versions, want)
}

// check wants every deployment to have been created and completed once, and its versions to have risen only.
func (s *subscriber) check(t *testing.T, want map[string]int32) {
	t.Helper()
	if len(s.broken) > 0 {
		t.Errorf("subscriber %d: the versions of %v do not rise", s.number, s.broken)
	}
	for id := range want {
		if !s.lists && (s.created[id] != 1 || s.completed[id] != 1) {
			t.Errorf("subscriber %d: %s was created %d times and completed %d times", s.number, id, s.created[id], s.completed[id])
		}
	}
}
