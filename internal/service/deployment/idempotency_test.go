package deployment_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/idempotencykey"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/journal"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// keyed makes a deployment at a place under a key; the same variant is the same request.
type keyed func(ctx context.Context, s *deployment.Services, source *ent.Deployment, version string, key *string, variant int) (*ent.Deployment, error)

// requests are the operations that take a key.
var requests = map[string]keyed{
	"create": func(ctx context.Context, s *deployment.Services, source *ent.Deployment, version string, key *string, variant int) (*ent.Deployment, error) {
		return worldtest.Unwarned(s.Propose.Create(ctx, propose.New{
			InstanceID: source.ModuleInstanceID, VersionID: version, Artifact: strictjson.MustParse(worldtest.Artifact),
			Inputs: strictjson.MustParse(fmt.Sprintf(`{"image":"web:1","replicas":%d}`, variant+1)), Request: admission.Request{IdempotencyKey: key},
		}))
	},
	"rollback": func(ctx context.Context, s *deployment.Services, source *ent.Deployment, _ string, key *string, variant int) (*ent.Deployment, error) {
		return worldtest.Unwarned(s.Propose.Rollback(ctx, replayOf(source, key, variant)))
	},
	"redeploy": func(ctx context.Context, s *deployment.Services, source *ent.Deployment, _ string, key *string, variant int) (*ent.Deployment, error) {
		return worldtest.Unwarned(s.Propose.Redeploy(ctx, replayOf(source, key, variant)))
	},
}

func replayOf(source *ent.Deployment, key *string, variant int) propose.Replay {
	r := propose.Replay{SourceID: source.ID, Request: admission.Request{ExpectedLiveID: &source.ID, IdempotencyKey: key}}
	if variant > 0 {
		r.ExpectedLiveID = nil
	}
	return r
}

// caller makes requests under keys, of one operation, at a place of its own if a deployment has
// succeeded. Its keys are its own too.
type caller struct {
	*worldtest.Fixture
	*worldtest.World
	clock     *clock
	operation string
	source    *ent.Deployment
	// ctx is the caller's, other that of somebody else.
	ctx, other context.Context
}

func (c *caller) request(ctx context.Context, key string, variant int) (*ent.Deployment, error) {
	return requests[c.operation](ctx, c.World.Deploy, c.source, c.Version.ID, &key, variant)
}

// eachRequest runs a test of each operation that takes a key.
func eachRequest(t *testing.T, test func(t *testing.T, c *caller)) {
	t.Helper()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock := clockOf(w)
		for name := range requests {
			p, who := w.Fixture(t, w.Acme, name), *actor.From(w.Acme.As(actor.Developer))
			other := who
			who.ID, other.ID = "tok_"+name, "tok_other_"+name
			c := &caller{p, w, clock, name, p.Succeeded(t), actor.With(t.Context(), &who), actor.With(t.Context(), &other)}
			test(t, c)
			for _, d := range w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(c.ctx) {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
	})
}

func made(t *testing.T, d *ent.Deployment, err error) *ent.Deployment {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestARequestAgainUnderItsKeyGivesWhatItHasMade(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, c *caller) {
		first, err := c.request(c.ctx, "key", 0)
		made(t, first, err)
		again := func(status string) {
			unchanged(t, c.World, "the request again", func() {
				d, err := c.request(c.ctx, "key", 0)
				if err != nil || d.ID != first.ID || string(d.Status) != status {
					t.Errorf("%s: %v, %v", status, d, err)
				}
			})
		}
		again("PENDING")
		lease := c.Claim(t, first)
		again("RUNNING")
		if _, err := c.World.Deploy.Execution.End(c.Acme.As(actor.Runner), first.ID, lease, execution.Completion{Failure: broken}); err != nil {
			t.Fatal(err)
		}
		again("FAILED")
		// Now the request would be refused: the release is bad, and another deployment is active.
		c.Fixture.Deploy(t, c.Instance.ID, `{"image":"web:9"}`)
		if _, err := c.World.Deploy.Releases.Quarantine(c.Acme.As(actor.Admin), *first.ReleaseID, "bad", nil); err != nil {
			t.Fatal(err)
		}
		again("FAILED")
		if d, err := c.request(c.ctx, "another key", 0); err == nil {
			t.Errorf("under another key: %v", d)
		}
	})
}

func TestAKeyIsOfOneRequestAndOfOneCaller(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, c *caller) {
		key := "A key"
		first, err := c.request(c.ctx, key, 0)
		made(t, first, err)
		f := refused(t, c.World, "another request", fault.RequestIdempotencyReused, func() (*ent.Deployment, error) { return c.request(c.ctx, key, 1) })
		if want := map[string]any{"idempotencyKey": key, "deploymentId": first.ID}; f != nil && (!cmp.Equal(want, f.Metadata) || f.Status() != 422) {
			t.Errorf("%d %v", f.Status(), f.Metadata)
		}
		for name, call := range requests {
			if name != c.operation {
				_ = refused(t, c.World, name, fault.RequestIdempotencyReused, func() (*ent.Deployment, error) {
					return call(c.ctx, c.World.Deploy, first, c.Version.ID, &key, 0)
				})
			}
		}
		// To others it is a key like any other, and their request meets the active deployment.
		_ = refused(t, c.World, "another's request", fault.DeploymentInProgress, func() (*ent.Deployment, error) {
			return c.request(c.other, key, 0)
		})
		_ = refused(t, c.World, "a key in capitals", fault.DeploymentInProgress, func() (*ent.Deployment, error) {
			return c.request(c.ctx, strings.ToUpper(key), 0)
		})
		c.Finish(t, first, nil)
		if theirs, err := c.request(c.other, key, 1); err != nil || theirs.ID == first.ID {
			t.Errorf("another's request: %v, %v", theirs, err)
		}
	})
}

func TestAKeyIsOfOneOrganization(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		// One superadmin, who acts in both.
		root := &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Channel: actor.GraphQL}
		ids := map[string]bool{}
		for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
			source := w.Fixture(t, o, "web").Succeeded(t)
			for range 2 {
				d, _, err := w.Deploy.Propose.Redeploy(actor.With(t.Context(), root.In(o.ID)), propose.Replay{SourceID: source.ID, Request: admission.Request{IdempotencyKey: new("key")}})
				ids[made(t, d, err).ID] = true
			}
		}
		if len(ids) != 2 {
			t.Errorf("made %v", ids)
		}
	})
}

func TestARequestThatItsEqualOvertakesGetsWhatThatHasMade(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, c *caller) {
		// The first is refused because the instance is busy, the second because another deployment is live.
		for _, key := range []string{"busy", "succeeded"} {
			var first *ent.Deployment
			slowly := journal.NewAlone(c.Store, c.clock.Now, func(k id.Kind) string {
				// It has found no request under its key, and its transaction has not begun.
				if k == id.AuditEvent && first == nil {
					var err error
					first, err = c.request(c.ctx, key, 0)
					made(t, first, err)
					if key == "succeeded" {
						c.Finish(t, first, nil)
					}
				}
				return id.New(k)
			})
			slow := c.World.Deploy.With(func(d *deployment.Deps) { d.Journal = slowly })
			d, err := requests[c.operation](c.ctx, slow, c.source, c.Version.ID, &key, 0)
			if err != nil || d.ID != first.ID {
				t.Errorf("%s, %s: %v, %v, want %s", c.operation, key, d, err, first.ID)
			}
			if key == "busy" {
				w := c.World
				w.Cancel(t, w.Acme, first.ID)
			}
		}
	})
}

func TestRefusalsAreNotKeptUnderTheirKey(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, c *caller) {
		blocker := c.Fixture.Deploy(t, c.Instance.ID, `{"image":"web:9"}`)
		_ = refused(t, c.World, "a blocked request", fault.DeploymentInProgress, func() (*ent.Deployment, error) { return c.request(c.ctx, "key", 0) })
		if _, err := c.World.Deploy.Execution.Cancel(c.ctx, blocker.ID, nil); err != nil {
			t.Fatal(err)
		}
		if c.operation == "create" {
			// 60 replicas are too many.
			_ = refused(t, c.World, "a bad request", fault.DeploymentInputsInvalid, func() (*ent.Deployment, error) { return c.request(c.ctx, "key", 59) })
		}
		d, err := c.request(c.ctx, "key", 1)
		made(t, d, err)
		again, err := c.request(c.ctx, "key", 1)
		if err != nil || again.ID != d.ID {
			t.Errorf("%v, %v, want %s", again, err, d.ID)
		}
		c.Finish(t, d, broken)
	})
}

func TestKeysAreKnownForADay(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, c *caller) {
		ids := map[string]bool{}
		var d *ent.Deployment
		for range 3 {
			var err error
			d, err = c.request(c.ctx, "key", 1)
			ids[made(t, d, err).ID] = true
			c.Finish(t, d, broken)
			c.clock.Advance(24*time.Hour - time.Microsecond)
			unchanged(t, c.World, "after nearly a day", func() {
				again, err := c.request(c.ctx, "key", 1)
				if err != nil || again.ID != d.ID {
					t.Errorf("%v, %v, want %s", again, err, d.ID)
				}
			})
			_ = refused(t, c.World, "another request", fault.RequestIdempotencyReused, func() (*ent.Deployment, error) { return c.request(c.ctx, "key", 0) })
			c.clock.Advance(time.Microsecond)
		}
		if len(ids) != 3 {
			t.Errorf("made %v", ids)
		}
		if d, err := c.request(c.ctx, "key", 0); err != nil || ids[d.ID] {
			t.Errorf("another request after a day: %v, %v", d, err)
		}
		if n := c.Store.Client.IdempotencyKey.Query().Where(idempotencykey.ActorID("tok_" + c.operation)).CountX(c.ctx); n != 1 {
			t.Errorf("the key is kept %d times", n)
		}
	})
}

func TestKeysOfAnotherFormAreRefused(t *testing.T) {
	t.Parallel()
	eachRequest(t, func(t *testing.T, c *caller) {
		for _, key := range []string{"", " ", strings.Repeat("k", 256), "a\nb", "key\n", "a\x00b", "\x7f", "clé", "🔑", " key", "key ", "\tkey"} {
			f := refused(t, c.World, fmt.Sprintf("%.10q", key), fault.RequestInvalid, func() (*ent.Deployment, error) { return c.request(c.ctx, key, 0) })
			wantViolations(t, f, "/idempotencyKey")
		}
		for _, key := range []string{"k", strings.Repeat("k", 255), "a key", `"'\;--$1%`, "~!"} {
			d, err := c.request(c.ctx, key, 1)
			c.Finish(t, made(t, d, err), broken)
			if again, err := c.request(c.ctx, key, 1); err != nil || again.ID != d.ID {
				t.Errorf("%.10q again: %v, %v", key, again, err)
			}
		}
	})
}

func TestOfManyEqualRequestsAtOnceOneIsCarriedOut(t *testing.T) {
	t.Parallel()
	const keys, callers = 20, 30
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		servers := []*deployment.Services{w.Deploy}
		if t.Name() == "TestOfManyEqualRequestsAtOnceOneIsCarriedOut/postgres" {
			servers = append(servers, worldtest.Another(t, w.DatabaseURL).Deploy)
		}
		p := w.Fixture(t, w.Acme, "web")
		var sources []*ent.Deployment
		for i := range keys {
			instance := p.NewInstance(t, fmt.Sprint("i", i))
			sources = append(sources, p.Finish(t, p.Deploy(t, instance.ID, `{"image":"web:1"}`), nil))
		}
		names := []string{"create", "rollback", "create", "redeploy"}
		var answers [keys]sync.Map
		var all sync.WaitGroup
		for n := range keys * callers {
			key, caller := n%keys, n/keys
			all.Go(func() {
				ctx, cancel := context.WithCancel(w.Acme.As(actor.Developer))
				if caller%3 == 1 {
					ctx, cancel = context.WithTimeout(ctx, rand.N(100*time.Millisecond))
				}
				defer cancel()
				d, err := requests[names[key%4]](ctx, servers[caller%len(servers)], sources[key], p.Version.ID, new(fmt.Sprint("key ", key)), 0)
				switch {
				case err == nil:
					answers[key].Store(d.ID, true)
				case ctx.Err() == nil && !fault.Is(err, fault.ServerUnavailable): // a machine may be too slow for so many
					t.Errorf("key %d: %v", key, err)
				}
			})
		}
		all.Wait()
		for key := range answers {
			n := 0
			answers[key].Range(func(any, any) bool { n++; return true })
			if n != 1 {
				t.Errorf("key %d got %d deployments", key, n)
			}
		}
		if rows := w.Rows(t); rows["deployments"] != 2*keys || rows["idempotency_keys"] != keys {
			t.Errorf("%d deployments, %d keys", rows["deployments"], rows["idempotency_keys"])
		}
	})
}

func TestARequestIsTheSameInAnotherOrderOfKeys(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, key := w.Fixture(t, w.Acme, "web"), "key"
		create := func(inputs string) (*ent.Deployment, error) {
			return worldtest.Unwarned(w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
				InstanceID: p.Instance.ID, VersionID: p.Version.ID, Artifact: strictjson.MustParse(worldtest.Artifact),
				Inputs: strictjson.MustParse(inputs), Request: admission.Request{IdempotencyKey: &key},
			}))
		}
		first, err := create(`{"image":"web:1","replicas":2}`)
		if err != nil {
			t.Fatal(err)
		}
		for _, same := range []string{`{"replicas":2,"image":"web:1"}`, `{"image":"web:1","replicas":2.0}`} {
			if d, err := create(same); err != nil || d.ID != first.ID {
				t.Errorf("%s: %v, %v", same, d, err)
			}
		}
		const other = `{"image":"web:1","replicas":3}`
		_ = refused(t, w, "another request", fault.RequestIdempotencyReused, func() (*ent.Deployment, error) { return create(other) })
		// A server of before has stored a fingerprint that says nothing of this one.
		before := strings.Repeat("0123456789abcdef", 4)
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE idempotency_keys SET request_hash = $1`, before); err != nil {
			t.Fatal(err)
		}
		if d, err := create(`{"image":"web:1","replicas":2}`); err != nil || d.ID != first.ID {
			t.Errorf("across an upgrade: %v, %v", d, err)
		}
	})
}
