package page_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"slipway/internal/actor"
	"slipway/internal/deployment"
	"slipway/internal/fault"
	"slipway/internal/page"
	"slipway/internal/worldtest"
)

func TestCursorsAreGoodForTheirOwnListOnly(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		p := w.Fixture(t, w.Acme, "web")
		d := p.Succeeded(t)
		c, err := w.Deploy.Deployments(ctx, deployment.Filter{ProjectID: &p.Project.ID}, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		cursor := c.Edges[0].Cursor
		same, err := w.Deploy.Deployments(ctx, deployment.Filter{ProjectID: &p.Project.ID}, page.Args{After: &cursor})
		if err != nil || len(same.Edges) != 0 {
			t.Errorf("the same list: %v, %v", same, err)
		}
		for name, read := range map[string]func(page.Args) error{
			"another filter": func(a page.Args) error {
				_, err := w.Deploy.Deployments(ctx, deployment.Filter{ProjectID: &p.Project.ID, Kind: &d.DeploymentType}, a)
				return err
			},
			"no filter": func(a page.Args) error {
				_, err := w.Deploy.Deployments(ctx, deployment.Filter{}, a)
				return err
			},
			"another list": func(a page.Args) error {
				_, err := w.Workspace.Projects(ctx, a)
				return err
			},
			"another viewer": func(a page.Args) error {
				_, err := w.Deploy.Deployments(w.Globex.As(actor.Viewer), deployment.Filter{ProjectID: &p.Project.ID}, a)
				return err
			},
			"a list of its parent": func(a page.Args) error {
				_, err := w.Deploy.DeploymentsOf(ctx, []string{p.Instance.ID}, a)
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
			base64.RawURLEncoding.EncodeToString(make([]byte, 16)), good[:16], "é"}
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
