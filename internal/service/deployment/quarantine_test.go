package deployment_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/data/store"
	"slipway/internal/server"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// waysToShip are all ways to deploy the release of a deployment that succeeded with the inputs of Succeeded.
func waysToShip(p *worldtest.Fixture, s *deployment.Services, ctx context.Context, sourceID string) map[string]func() (*ent.Deployment, error) {
	return map[string]func() (*ent.Deployment, error){
		"rollback": func() (*ent.Deployment, error) {
			return worldtest.Unwarned(s.Propose.Rollback(ctx, propose.Replay{SourceID: sourceID}))
		},
		"redeploy": func() (*ent.Deployment, error) {
			return worldtest.Unwarned(s.Propose.Redeploy(ctx, propose.Replay{SourceID: sourceID}))
		},
		"create": func() (*ent.Deployment, error) {
			return worldtest.Unwarned(s.Propose.Create(ctx, propose.New{InstanceID: p.Instance.ID, VersionID: p.Version.ID,
				Inputs: strictjson.MustParse(`{"image":"web:1.4.2"}`), Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(worldtest.Data)}))
		},
	}
}

// startable says that every way to deploy a release is open.
func startable(t *testing.T, w *worldtest.World, ways map[string]func() (*ent.Deployment, error)) {
	t.Helper()
	for name, start := range ways {
		d, err := start()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w.Cancel(t, w.Acme, d.ID)
	}
}

func TestAQuarantinedReleaseIsNotDeployedUntilItIsLifted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := p.Succeeded(t)
		admin := w.Acme.As(actor.Admin)
		ways := waysToShip(p, w.Deploy, w.Acme.As(actor.Developer), target.ID)
		startable(t, w, ways)
		until := store.Now().Add(time.Hour)
		for _, end := range []*time.Time{nil, &until} {
			if r, err := w.Deploy.Releases.Quarantine(admin, *target.ReleaseID, "It loses data.", end); err != nil || r.ID != *target.ReleaseID {
				t.Fatal(r, err)
			}
			list, err := w.Deploy.Releases.QuarantinesOf(admin, []string{*target.ReleaseID}, page.Args{})
			if err != nil {
				t.Fatal(err)
			}
			details := map[string]any{
				"releaseId": *target.ReleaseID, "reason": "It loses data.", "quarantinedBy": "admin",
				"quarantinedAt": list[*target.ReleaseID].Nodes()[0].CreatedAt.UTC().Format(time.RFC3339Nano),
			}
			if end != nil {
				details["until"] = end.Format(time.RFC3339Nano)
			}
			for name, start := range ways {
				f := refused(t, w, name, fault.ReleaseQuarantined, start)
				if f == nil {
					continue
				}
				if want := "The release " + *target.ReleaseID + " is quarantined by admin: It loses data."; f.Message != want {
					t.Errorf("%s: %q, want %q", name, f.Message, want)
				}
				if diff := cmp.Diff(map[string]any{"quarantine": details}, f.Metadata); diff != "" {
					t.Errorf("%s, metadata: want (-), got (+):\n%s", name, diff)
				}
				if diff := cmp.Diff([]fault.Section{{Title: "Quarantine", Render: fault.RenderObject, Object: details}}, f.Details); diff != "" {
					t.Errorf("%s, details: want (-), got (+):\n%s", name, diff)
				}
			}
		}
		// Other content is no concern of it.
		w.Cancel(t, w.Acme, other(t, w, p).ID)
		if r, err := w.Deploy.Releases.UnquarantineRelease(admin, *target.ReleaseID); err != nil || r.ID != *target.ReleaseID {
			t.Fatal(r, err)
		}
		startable(t, w, ways)
		_ = refused(t, w, "lift again", fault.ReleaseNotQuarantined, func() (*ent.Deployment, error) {
			_, err := w.Deploy.Releases.UnquarantineRelease(admin, *target.ReleaseID)
			return nil, err
		})
	})
}

func TestAQuarantineEndsAtItsTime(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := p.Succeeded(t)
		now := store.Now().Add(-2 * time.Hour)
		then := server.NewServices(w.Store, slog.New(slog.DiscardHandler), func() time.Time { return now }, "")
		until := now.Add(time.Hour)
		if _, err := then.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), *target.ReleaseID, "For an hour.", &until); err != nil {
			t.Fatal(err)
		}
		ways := waysToShip(p, then.Deploy, w.Acme.As(actor.Developer), target.ID)
		now = until.Add(-time.Microsecond)
		for name, start := range ways {
			_ = refused(t, w, name, fault.ReleaseQuarantined, start)
		}
		now = until
		startable(t, w, ways)
		_ = refused(t, w, "lift", fault.ReleaseNotQuarantined, func() (*ent.Deployment, error) {
			_, err := then.Deploy.Releases.UnquarantineRelease(w.Acme.As(actor.Admin), *target.ReleaseID)
			return nil, err
		})
		quarantined := history(t, w, *target.ReleaseID)
		want := []any{map[string]any{"reason": "For an hour.", "createdBy": map[string]any{"name": "admin"}, "until": until.Format(time.RFC3339Nano),
			"endedAt": nil, "endedBy": nil, "active": false}}
		if diff := cmp.Diff(map[string]any{"quarantine": nil, "quarantines": map[string]any{"nodes": want}}, quarantined); diff != "" {
			t.Errorf("want (-), got (+):\n%s", diff)
		}
	})
}

// history returns what GraphQL tells of the quarantines of a release.
func history(t *testing.T, w *worldtest.World, releaseID string) any {
	t.Helper()
	r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { release(id: $id) { quarantine { reason }
		quarantines { nodes { reason createdBy { name } until endedAt endedBy { name } active } } } }`, map[string]any{"id": releaseID})
	return r.At(t, "data", "release")
}

func TestANewQuarantineReplacesTheOneThatHolds(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		target := w.Fixture(t, w.Acme, "web").Succeeded(t)
		now := store.Now()
		s := server.NewServices(w.Store, slog.New(slog.DiscardHandler), func() time.Time { return now }, "").Deploy
		begin := now
		hour := begin.Add(time.Hour)
		for i, q := range []struct {
			reason string
			until  *time.Time
			after  time.Duration
		}{{"first", nil, time.Minute}, {"second", &hour, 2 * time.Hour}, {"third", nil, time.Minute}} {
			if _, err := s.Releases.Quarantine(w.Acme.As(actor.Admin), *target.ReleaseID, q.reason, q.until); err != nil {
				t.Fatal(i, err)
			}
			now = now.Add(q.after)
		}
		row := func(reason string, until, endedAt, endedBy any, active bool) any {
			return map[string]any{"reason": reason, "createdBy": map[string]any{"name": "admin"}, "until": until, "endedAt": endedAt, "endedBy": endedBy, "active": active}
		}
		text := func(at time.Time) string { return at.Format(time.RFC3339Nano) }
		want := map[string]any{"quarantine": map[string]any{"reason": "third"}, "quarantines": map[string]any{"nodes": []any{
			row("third", nil, nil, nil, true),
			row("second", text(hour), text(hour), nil, false),
			row("first", nil, text(begin.Add(time.Minute)), map[string]any{"name": "admin"}, false),
		}}}
		if diff := cmp.Diff(any(want), history(t, w, *target.ReleaseID)); diff != "" {
			t.Errorf("want (-), got (+):\n%s", diff)
		}
	})
}

func TestOfQuarantinesAtOnceOneHoldsAndNoneFails(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		target := w.Fixture(t, w.Acme, "web").Succeeded(t)
		services := []*deployment.Services{w.Deploy, w.Deploy}
		if strings.HasSuffix(t.Name(), "/postgres") {
			services[1] = worldtest.Another(t, w.DatabaseURL).Deploy
		}
		admin := w.Acme.As(actor.Admin)
		const rounds = 20
		for range rounds {
			atOnce(services, func(s *deployment.Services) {
				if _, err := s.Releases.Quarantine(admin, *target.ReleaseID, "It loses data.", nil); err != nil {
					t.Error(err)
				}
			})
		}
		list, err := w.Deploy.Releases.QuarantinesOf(admin, []string{*target.ReleaseID}, page.Args{First: new(int32(page.MaxSize))})
		if err != nil {
			t.Fatal(err)
		}
		open := 0
		for _, q := range list[*target.ReleaseID].Nodes() {
			if q.LiftedAt == nil {
				open++
			}
		}
		if len(list[*target.ReleaseID].Nodes()) != 2*rounds || open != 1 {
			t.Errorf("%d quarantines, %d open", len(list[*target.ReleaseID].Nodes()), open)
		}
		for range rounds {
			var lifted atomic.Int32
			atOnce(services, func(s *deployment.Services) {
				if _, err := s.Releases.UnquarantineRelease(admin, *target.ReleaseID); err == nil {
					lifted.Add(1)
				} else if !fault.Is(err, fault.ReleaseNotQuarantined) {
					t.Error(err)
				}
			})
			if lifted.Load() != 1 {
				t.Errorf("%d lifted it", lifted.Load())
			}
			quarantine(t, w, *target.ReleaseID)
		}
	})
}

func atOnce(services []*deployment.Services, f func(*deployment.Services)) {
	var all sync.WaitGroup
	for _, s := range services {
		all.Go(func() { f(s) })
	}
	all.Wait()
}
