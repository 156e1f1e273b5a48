package cli_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
)

// On a terminal a person is asked, and the status is rewritten in its line.
func TestPersonIsAskedBeforeADeployment(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{40, 80, 200} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			s, p := newStock(t), openTerminal(t, columns)
			startRunner(t, s.World, func(r *runner, d *ent.Deployment, lease string) {
				r.steps(d, lease, 1, 2, "Applying what takes "+strings.Repeat("long ", 50))
				testkit.Eventually(t, "the status is there", func() bool { return strings.Contains(p.shown(), "RUNNING, 1 of 2") })
				r.prints(d, lease, "\x1b[32mapplied\x1b[0m\x1b[2J")
				r.ends(d, lease, nil)
			})
			h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"TERM": "xterm"})
			h.stdin = p.command
			go p.types(t, "Deploy? [y/N] ", "y\n")
			code := h.execute(t.Context(), io.Discard, p.command, "deploy", "shop/production/web", "--set", "image=web:2")
			shown := p.all()
			if code != 0 {
				t.Errorf("%d: %q", code, shown)
			}
			inOrder(t, shown, "as developer (DEVELOPER)", "live: 2 hours ago by developer", "~ /image  ", "Deploy? [y/N] y", "\r\x1b[K", "\x1b[32mapplied\x1b[0m\\u{1b}[2J\x1b[0m\n")
			for line := range strings.SplitSeq(shown, "\x1b[K") {
				status, _, _ := strings.Cut(line, "\r")
				if strings.HasPrefix(status, "RUNNING,") && len([]rune(status)) > int(columns)-1 {
					t.Errorf("the status is wider than the terminal: %q", status)
				}
			}
		})
	}
}

// A screen reader gets lines, of which none changes.
func TestAccessibleStatusIsNotRewritten(t *testing.T) {
	t.Parallel()
	s, p := newStock(t), openTerminal(t, 80)
	startRunner(t, s.World, succeeds)
	h := s.home(t, s.Acme.Tokens[actor.Developer]).with(map[string]string{"TERM": "xterm", "ACCESSIBLE": "1"})
	h.stdin = p.command
	go p.types(t, "Deploy? [y/N] ", "yes\n")
	code := h.execute(t.Context(), io.Discard, p.command, "deploy", "shop/production/web", "--set", "image=web:2")
	if shown := p.all(); code != 0 || strings.Contains(shown, "\x1b[K") || !strings.Contains(shown, "1 of 2: Fetching.") {
		t.Errorf("%d: %q", code, shown)
	}
}

func TestPersonSaysNo(t *testing.T) {
	t.Parallel()
	s, p := newStock(t), openTerminal(t, 80)
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	h.stdin = p.command
	go p.types(t, "Deploy? [y/N] ", "\n")
	before := s.Rows(t)["deployments"]
	code := h.execute(t.Context(), io.Discard, p.command, "deploy", "shop/production/web", "--set", "image=web:2")
	if shown := p.all(); code != 1 || !strings.Contains(shown, "slipway: nothing was changed") || s.Rows(t)["deployments"] != before {
		t.Errorf("%d: %q", code, shown)
	}
}

// If another deployment is live when the answer comes, a person is shown what differs by then, and asked anew.
func TestPersonIsAskedAnewWhereTheWorldHasMovedOn(t *testing.T) {
	t.Parallel()
	s, p := newStock(t), openTerminal(t, 80)
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	h.stdin = p.command
	go func() {
		if testkit.Eventually(t, "it is asked", func() bool { return strings.Contains(p.shown(), "Deploy? [y/N] ") }) {
			s.Finish(t, s.Deploy(t, s.Instance.ID, `{"image":"web:other"}`), nil)
			p.types(t, "Deploy? [y/N] ", "y\n")
			p.types(t, `"web:other" -> "web:2"`, "y\n")
		}
	}()
	code := h.execute(t.Context(), io.Discard, p.command, "deploy", "shop/production/web", "--set", "image=web:2", "--wait=false")
	shown := p.all()
	if code != 0 {
		t.Errorf("%d: %q", code, shown)
	}
	inOrder(t, shown, `"web:1.4.2" -> "web:2"`, "Deploy? [y/N] y", "these changed: live.", `"web:other" -> "web:2"`, "Deploy? [y/N] y")
}
