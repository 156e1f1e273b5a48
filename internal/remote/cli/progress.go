package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"slipway/internal/remote/client"
)

// progress tells, on standard error, how a deployment goes on while a command waits. On a terminal the last line is the
// status, which is rewritten; elsewhere, and for screen readers, which a line that changes only disturbs, a line is
// added for each change, and from time to time one that says that it goes on.
type progress struct {
	mu     sync.Mutex
	to     io.Writer
	screen screen
	now    func() time.Time
	// rewrites is whether the status is rewritten, and status what stands there now.
	rewrites bool
	status   string
	// last is what was told of the deployment, nil before.
	last *told
	// fromStart is whether also what was before the first look is told of one that has ended by then.
	fromStart bool
	// spoke is when something was told last.
	spoke time.Time
}

// told is what was told of a deployment.
type told struct {
	*client.DeploymentProgress
	events int
}

func (s *session) newProgress() *progress {
	env := s.config.Env
	p := &progress{to: s.errOut, screen: newScreen(s.errOut, env, s.out.color != "never"), now: s.config.Now}
	p.rewrites = p.screen.width > 0 && variable(env, "ACCESSIBLE") == "" && variable(env, "TERM") != "dumb"
	p.spoke = p.now()
	return p
}

// run refreshes the status until the function that it returns is called, which takes it away.
func (p *progress) run(reminder time.Duration) (stop func()) {
	every := time.Second
	if !p.rewrites {
		every = reminder
	}

	ticker, done, ended := time.NewTicker(every), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				p.tick(reminder)
			case <-done:
				return
			}
		}
	}()

	return func() {
		ticker.Stop()
		close(done)
		<-ended
		p.mu.Lock()
		defer p.mu.Unlock()
		p.show("")
	}
}

func (p *progress) tick(reminder time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.rewrites:
		p.show(p.statusNow())
	case p.now().Sub(p.spoke) >= reminder*9/10: // a ticker is not exact
		if status := p.statusNow(); status != "" {
			p.write("still " + status)
		}
	}
}

// line adds a line.
func (p *progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(text)
}

// write adds a line above the status.
func (p *progress) write(text string) {
	p.spoke = p.now()
	p.show("")
	_, _ = fmt.Fprintln(p.to, text)
	p.show(p.statusNow())
}

// show puts a status in the place of the one that stands there.
func (p *progress) show(status string) {
	if !p.rewrites {
		return
	}
	status = cut(status, p.screen.width-1)
	if status != p.status {
		_, _ = fmt.Fprint(p.to, "\r\x1b[K"+status)
	}
	p.status = status
}

// change tells what has changed of a deployment that goes on: where it stands, the events since, and that it is to be
// canceled. How it has ended is the result of a command, and not told here.
func (p *progress) change(d *client.DeploymentProgress) {
	p.mu.Lock()
	defer p.mu.Unlock()

	before, events := p.last, 0
	if before != nil {
		if d.Version < before.Version {
			return // it is older than what is known
		}
		events = before.events
	}

	p.last = &told{d, d.FoldedEvents + len(d.Events)}
	if (before == nil || before.Status != d.Status) && d.CompletedAt == nil {
		p.write(p.sentence(d.Id, string(d.Status), client.NameOf(d.Runner)))
	}

	if before == nil && d.CompletedAt != nil && !p.fromStart {
		return
	}

	for _, e := range d.Events[min(max(0, events-d.FoldedEvents), len(d.Events)):] {
		if text := eventText(e); text != "" {
			p.write(p.sentence("", text))
		}
	}

	if d.CancelRequestedBy != nil && (before == nil || before.CancelRequestedBy == nil) && d.CompletedAt == nil {
		p.write(p.sentence("", "to be canceled, for "+d.CancelRequestedBy.Name))
	}

	if p.rewrites {
		p.show(p.statusNow())
	}
}

// sentence returns texts from elsewhere as a line, with gaps between.
func (p *progress) sentence(texts ...string) string {
	var parts []string
	for i, text := range texts {
		if text != "" || i == 0 {
			parts = append(parts, p.screen.paint(safe(text)))
		}
	}
	return strings.Join(parts, gap)
}

// statusNow returns how the deployment stands, "" if it does not go on.
func (p *progress) statusNow() string {
	d := p.last
	if d == nil || d.CompletedAt != nil {
		return ""
	}

	status, since := string(d.Status), d.CreatedAt
	if d.Status == client.DeploymentStatusPending {
		status += " until a runner takes it"
		if d.Action == client.DeploymentActionDestroy {
			status += " that has --destroy"
		}
	}
	if d.Status == client.DeploymentStatusAwaitingApproval {
		status += " until others approve of it and it is started"
	}

	if d.StartedAt != nil {
		since = *d.StartedAt
	}
	if n := len(d.Events); n > 0 && d.Events[n-1].CurrentStep != nil {
		status += ", " + eventText(d.Events[n-1])
	}

	return safe(status) + ", " + lasting(p.now().Sub(since))
}

// eventText returns an event of a program as a line.
func eventText(e client.ProgressEvent) string {
	text := textOf(e.Message)
	if e.CurrentStep == nil {
		return text
	}
	step := fmt.Sprintf("step %d", *e.CurrentStep)
	if e.TotalSteps != nil {
		step = fmt.Sprintf("%d of %d", *e.CurrentStep, *e.TotalSteps)
	}
	if text == "" {
		return step
	}
	return step + ": " + text
}

// lasting returns how long something takes, in its two largest units.
func lasting(d time.Duration) string {
	seconds := int(max(d, 0) / time.Second)
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d h %d min", seconds/3600, seconds/60%60)
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
