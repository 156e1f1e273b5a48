package page_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/page"
	"slipway/internal/service/deployment/view"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

func TestCursorsAreGoodForTheirOwnListOnly(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		p := w.Fixture(t, w.Acme, "web")
		d := p.Succeeded(t)
		c, err := w.Deploy.View.Deployments(ctx, view.Filter{ProjectID: &p.Project.ID}, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		cursor := c.Edges[0].Cursor
		same, err := w.Deploy.View.Deployments(ctx, view.Filter{ProjectID: &p.Project.ID}, page.Args{After: &cursor})
		if err != nil || len(same.Edges) != 0 {
			t.Errorf("the same list: %v, %v", same, err)
		}
		for name, read := range map[string]func(page.Args) error{
			"another filter": func(a page.Args) error {
				_, err := w.Deploy.View.Deployments(ctx, view.Filter{ProjectID: &p.Project.ID, Kind: &d.DeploymentType}, a)
				return err
			},
			"no filter": func(a page.Args) error {
				_, err := w.Deploy.View.Deployments(ctx, view.Filter{}, a)
				return err
			},
			"another list": func(a page.Args) error {
				_, err := w.Workspace.Projects(ctx, workspace.ProjectFilter{}, a)
				return err
			},
			"another viewer": func(a page.Args) error {
				_, err := w.Deploy.View.Deployments(w.Globex.As(actor.Viewer), view.Filter{ProjectID: &p.Project.ID}, a)
				return err
			},
			"a list of its parent": func(a page.Args) error {
				_, err := w.Deploy.View.DeploymentsOf(ctx, view.OfInstance, []string{p.Instance.ID}, view.Filter{}, a)
				return err
			},
		} {
			if err := read(page.Args{After: &cursor}); !fault.Is(err, fault.RequestCursorInvalid) || !strings.Contains(err.Error(), "after is not a cursor") {
				t.Errorf("%s, after: %v", name, err)
			}
			if err := read(page.Args{Before: &cursor}); !fault.Is(err, fault.RequestCursorInvalid) || !strings.Contains(err.Error(), "before is not a cursor") {
				t.Errorf("%s, before: %v", name, err)
			}
		}
	})
}

var places = page.Scope{List: "deployments", Viewer: "org_01k9zt3e8hfk2s7b4v5q6w8x9y", Filter: struct{ EnvironmentID string }{"env_1"}}

func TestACursorLeadsBackToItsPosition(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{
		{}, time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC), time.Unix(0, 0).UTC(),
		day, day.Add(time.Microsecond), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
	} {
		for _, text := range []string{"0", "17", "dep_", "dep_" + strings.Repeat("!", 26), id.New(id.Deployment), id.New(id.ModuleDefinition), id.New(id.Token)} {
			cursor := page.Cursor(places, at, text)
			gotAt, gotText, err := page.Position(places, cursor)
			if err != nil || !gotAt.Equal(at) || gotText != text {
				t.Errorf("%s %s: %s leads to %s %s, %v", at, text, cursor, gotAt, gotText, err)
			}
			if _, isID := id.KindOf(text); isID && len(cursor) > 40 {
				t.Errorf("%s %s: %s has %d characters", at, text, cursor, len(cursor))
			}
		}
	}
}

func TestAPositionHasOneCursor(t *testing.T) {
	t.Parallel()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=\n"
	random := rand.New(rand.NewPCG(3, 4))
	taken := 0
	for range 20_000 {
		text := []byte(page.Cursor(places, day, []string{"3", "dep_x", id.New(id.Deployment)}[random.IntN(3)]))
		for range random.IntN(3) {
			text[random.IntN(len(text))] = alphabet[random.IntN(len(alphabet))]
		}
		text = text[:len(text)-max(0, random.IntN(8)-5)]
		at, record, err := page.Position(places, string(text))
		switch {
		case fault.Is(err, fault.RequestCursorInvalid):
			continue
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case page.Cursor(places, at, record) != string(text):
			t.Errorf("%q is a cursor beside %q of %s %q", text, page.Cursor(places, at, record), at, record)
		case at.Year() < 1 || at.Year() > 9999 || record == "":
			t.Errorf("%q leads to %s %q", text, at, record)
		}
		taken++
	}
	if taken < 2000 || taken > 18_000 {
		t.Errorf("%d of 20000 texts are cursors", taken)
	}
}

func BenchmarkCursor(b *testing.B) {
	deployment := id.New(id.Deployment)
	cursor := page.Cursor(places, day, deployment)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page.Cursor(places, day, deployment)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := page.Position(places, cursor); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestGarbageIsNoCursor(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		add(t, w, day, numbered("a", 3)...)
		c, err := projects(w, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		good := c.Edges[1].Cursor
		garbage := []string{"", " ", "null", "MQ", "....", good + "=", good + "\n", " " + good, strings.Repeat("A", 1<<16),
			base64.RawURLEncoding.EncodeToString(make([]byte, 16)), good[:16], good[:len(good)-1], good + "A", strings.ToUpper(good), "é"}
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			raw := make([]byte, random.IntN(60))
			for i := range raw {
				raw[i] = byte(random.Uint32())
			}
			garbage = append(garbage, string(raw), base64.RawURLEncoding.EncodeToString(raw))
		}
		for _, text := range garbage {
			if _, err := projects(w, page.Args{After: &text}); !fault.Is(err, fault.RequestCursorInvalid) {
				t.Errorf("%q: %v", text, err)
			}
		}
		// A good cursor with one byte changed is either no cursor or a place in the same list.
		raw, _ := base64.RawURLEncoding.DecodeString(good)
		for i := range raw {
			changed := append([]byte{}, raw...)
			changed[i] ^= byte(1 + random.IntN(255))
			text := base64.RawURLEncoding.EncodeToString(changed)
			if _, err := projects(w, page.Args{After: &text}); err != nil && !fault.Is(err, fault.RequestCursorInvalid) {
				t.Errorf("byte %d of %q changed: %v", i, good, err)
			}
		}
	})
}
