package deployment_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/test/worldtest"
)

// quarantining are the two ways to change the quarantines of a release.
var quarantining = map[string]func(*worldtest.World, context.Context, string) error{
	"quarantineRelease": func(w *worldtest.World, ctx context.Context, id string) error {
		_, err := w.Deploy.Releases.Quarantine(ctx, id, "It loses data.", nil)
		return err
	},
	"unquarantineRelease": func(w *worldtest.World, ctx context.Context, id string) error {
		_, err := w.Deploy.Releases.UnquarantineRelease(ctx, id)
		return err
	},
}

func TestOnlyAdminsQuarantineTheReleasesOfTheirOrganization(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		mine, theirs := w.Fixture(t, w.Acme, "web").Succeeded(t), w.Fixture(t, w.Globex, "web").Succeeded(t)
		for name, change := range quarantining {
			is := func(code fault.Code, ctx context.Context, text string) {
				t.Helper()
				_ = refused(t, w, name, code, func() (*ent.Deployment, error) { return nil, change(w, ctx, text) })
			}
			for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Runner} {
				is(fault.ReleaseForbidden, w.Acme.As(role), *mine.ReleaseID)
			}
			is(fault.RequestUnauthenticated, actor.With(t.Context(), actor.Anonymous()), *mine.ReleaseID)
			for _, text := range []string{*theirs.ReleaseID, id.New(id.Release), mine.ID, "", "x"} {
				is(fault.ReleaseNotFound, w.Acme.As(actor.Admin), text)
				is(fault.ReleaseNotFound, w.Acme.As(actor.Viewer), text)
			}
			root := (&actor.Actor{ID: "tok_1", Name: "root", Role: actor.Superadmin, Channel: actor.GraphQL}).In(w.Acme.ID)
			quarantine(t, w, *mine.ReleaseID)
			if err := change(w, actor.With(t.Context(), root), *mine.ReleaseID); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestAQuarantineNeedsAReasonAndATimeToCome(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		target := w.Fixture(t, w.Acme, "web").Succeeded(t)
		past := time.Now().Add(-time.Second)
		for _, c := range []struct {
			reason string
			until  *time.Time
			want   []string
		}{
			{"", nil, []string{"/reason: must have 1 to 1000 characters, found 0"}},
			{strings.Repeat("é", 1001), nil, []string{"/reason: must have 1 to 1000 characters, found 1001"}},
			{"r", &past, []string{"/until: must be in the future, found " + past.UTC().Format(time.RFC3339Nano)}},
			{"", &past, []string{"/reason", "/until"}},
			{"a\x00b", nil, []string{"/reason: must have no control characters but line feed and tab, no line separators and no bidirectional controls, found U+0000 at character 2"}},
		} {
			f := refused(t, w, c.reason, fault.RequestInvalid, func() (*ent.Deployment, error) {
				_, err := w.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), *target.ReleaseID, c.reason, c.until)
				return nil, err
			})
			for _, want := range c.want {
				if f != nil && !strings.Contains(f.Error(), want) {
					t.Errorf("%.20q until %v: %v, want %s", c.reason, c.until, f, want)
				}
			}
		}
		if _, err := w.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), *target.ReleaseID, strings.Repeat("é", 1000), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestQuarantinesAreAudited(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		target := w.Fixture(t, w.Acme, "web").Succeeded(t)
		for _, c := range []struct {
			field, input string
			status       int
		}{
			{"quarantineRelease", `reason: "It loses data.", until: "2099-01-01T00:00:00Z"`, http.StatusOK},
			{"quarantineRelease", `reason: ""`, http.StatusOK},
			{"unquarantineRelease", ``, http.StatusOK},
			{"unquarantineRelease", ``, http.StatusOK},
		} {
			query := `mutation { ` + c.field + `(input: { id: "` + *target.ReleaseID + `", ` + c.input + ` }) { release { quarantine { reason } } } }`
			if r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], query, nil); r.Status != c.status {
				t.Errorf("%s: %d %s", c.field, r.Status, r.Body)
			}
		}
		var got []string
		for _, e := range w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(*target.ReleaseID)).
			Order(ent.Asc(auditevent.FieldCreatedAt, auditevent.FieldID)).AllX(w.Acme.As(actor.Admin)) {
			got = append(got, e.Action+" by "+e.ActorName+" "+string(e.Changes))
		}
		want := []string{`quarantineRelease by admin {"reason":"It loses data.","until":"2099-01-01T00:00:00Z"}`, `unquarantineRelease by admin `}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("want (-), got (+):\n%s", diff)
		}
	})
}
