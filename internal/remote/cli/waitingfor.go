package cli

import (
	"context"
	"errors"
	"strings"
	"sync"

	"slipway/internal/remote/client"
)

// tellWaits tells what a deployment waits for, as long as it waits, until the function that it returns is called. The
// rest of a command does not depend on it.
func (s *session) tellWaits(ctx context.Context, id string, p *progress) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() { s.followWaits(ctx, id, p) })
	return func() { cancel(); telling.Wait() }
}

// followWaits asks what a deployment waits for, first after Config.Waiting and then ever less often, and tells it if it
// has changed. A server that cannot say so, such as an older one, is asked no more.
func (s *session) followWaits(ctx context.Context, id string, p *progress) {
	told := ""
	for wait := s.config.Waiting; sleep(ctx, wait) == nil; wait = min(2*wait, 5*s.config.Waiting) {
		if !p.waits() {
			continue
		}

		r, err := client.WaitingFor(ctx, s.conn.Client, id)
		switch refused, isRefused := errors.AsType[*client.Error](err); {
		case isRefused && refused.Permanent(), err == nil && r.Deployment == nil:
			return
		case err != nil:
			continue
		}

		if text := messagesOf(r.Deployment.WaitingFor); text != told {
			told = text
			p.tellWait(text)
		}
	}
}

// messagesOf returns what reasons say, as a line.
func messagesOf(reasons []client.WaitingReason) string {
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = r.Message
	}
	return strings.Join(texts, " ")
}

// waits reports whether the deployment waits as far as it is known: to begin, or for its program to end.
func (p *progress) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.last
	return d != nil && d.CompletedAt == nil && (d.StartedAt == nil || d.CancelRequestedBy != nil)
}

// tellWait adds a line that says what the deployment waits for, unless that is nothing.
func (p *progress) tellWait(text string) {
	if text != "" {
		p.line(p.sentence("", text))
	}
}
