package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/remote/client"
)

// waiting is what the flags say of the wait for a deployment's end.
type waiting struct {
	wait        waitMode
	logs        bool
	timeout     time.Duration
	onInterrupt string
	// fromStart says that the command has made the deployment.
	fromStart bool
	// streams says that each change is a part of the result, and not the end alone, but for people.
	streams bool
}

// waitMode is for what of a deployment a command waits.
type waitMode string

const (
	waitForNothing  waitMode = "false"
	waitForEnd      waitMode = "true"
	waitForApproval waitMode = "approval"
)

// What happens to a deployment that is waited for if the command is interrupted.
const leaveIt, cancelIt = "leave", "cancel"

func (w *waiting) flags(c *cobra.Command) {
	modes := []waitMode{waitForEnd, waitForNothing, waitForApproval}
	wait := setting.AddFlag(c.Flags(), &w.wait, "wait", string(waitForEnd), setting.Choice(modes...),
		"true waits for the result, unless approvals are missing; approval also waits for approvals; "+
			"false only prints the id")
	wait.NoOptDefVal = string(waitForEnd)
	completeFlag(c, "wait", fixed(modes))
	w.flagsOfWait(c)
}

// flagsOfWait are those of a command that always waits.
func (w *waiting) flagsOfWait(c *cobra.Command) {
	setting.AddFlag(c.Flags(), &w.logs, "logs", "true", setting.Bool, "show the program's output on standard error")
	setting.AddFlag(c.Flags(), &w.timeout, "timeout", "30m", setting.AtLeast(time.Second),
		"time to wait, then exit with 7; the deployment continues")
	setting.AddFlag(c.Flags(), &w.onInterrupt, "on-interrupt", leaveIt, setting.Choice(leaveIt, cancelIt),
		"what to do with the deployment if you interrupt the command")
	completeFlag(c, "on-interrupt", fixed([]string{leaveIt, cancelIt}))
}

var errTimeout = errors.New("the time to wait is over")

// endOf waits for the end of a deployment, telling meanwhile how it goes on, and shows it as the result. The error has
// the exit code for how it ended.
func (w *waiting) endOf(ctx context.Context, s *session, id string) error {
	ended, err := w.follow(ctx, s, id)
	switch {
	case ctx.Err() != nil:
		return w.interrupted(ctx, s, id)
	case errors.Is(err, errTimeout):
		// It may have ended at the last moment. A server that is away then is not waited for any longer than for any answer.
		r, err := client.Progress(ctx, s.conn, id)
		if err != nil {
			return &codeError{
				exitGoesOn,
				fmt.Errorf("how %s stands after %s is not known, and it may go on: %w", id, setting.DurationText(w.timeout), err),
			}
		}
		ended = r.Deployment
	case err != nil:
		s.note("%s may go on; see how it stands with: slipway deployments show %s", id, id)
		return err
	}

	if !w.streamsTo(s) {
		if err := s.showEnd(ended); err != nil {
			return err
		}
	}

	switch {
	case ended.CompletedAt == nil:
		return &codeError{
			exitGoesOn,
			fmt.Errorf("%s is still %s after %s, and goes on; wait for it with: slipway watch %s", id, ended.Status,
				setting.DurationText(w.timeout), id),
		}
	case ended.Status != client.DeploymentStatusSucceeded:
		if ended.Status == client.DeploymentStatusFailed {
			s.tellRollback(ctx, id)
		}
		return &codeError{code: exitUnwell}
	}
	return nil
}

// tellRollback tells of the rollback that an instance makes by itself. What cannot be asked for is left out: the end of
// the deployment is known.
func (s *session) tellRollback(ctx context.Context, failedID string) {
	r, err := client.Deployment(ctx, s.conn, failedID)
	if err != nil || r.Deployment == nil || r.Deployment.AutomaticRollback == nil {
		return
	}
	back := r.Deployment.AutomaticRollback
	s.note("%s rolls back to the earlier live release; wait for it with: slipway watch %[1]s", back.Id)
}

// streamsTo reports whether the result has each change of a deployment.
func (w *waiting) streamsTo(s *session) bool { return w.streams && s.out.format != formatTable }

// lateLogs is how long the last lines of a log may take to come when the deployment has ended.
const lateLogs = 10 * time.Second

// follow tells how a deployment goes on until it has ended, or the time is over.
func (w *waiting) follow(ctx context.Context, s *session, id string) (*client.DeploymentProgress, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.timeout, errTimeout)
	defer cancel()

	p := s.newProgress()
	p.fromStart = w.fromStart
	defer p.run(s.config.Reminder)()
	defer s.tellWaits(ctx, id, p)()

	var logs sync.WaitGroup
	defer logs.Wait()
	toLogs, endLogs := context.WithCancel(ctx)
	defer endLogs()

	if w.logs {
		logs.Go(func() {
			err := s.followLogs(toLogs, id, "", func(line *client.LogRecord) error {
				p.line(logText(line.Text, p.screen.color))
				return nil
			})
			if err != nil && toLogs.Err() == nil {
				p.line(safe(fmt.Sprintf("the log cannot be shown: %v", err)))
			}
		})
	}

	shown := 0
	ended, err := s.followDeployment(ctx, id, func(d *client.DeploymentProgress) error {
		p.change(d)
		if !w.streamsTo(s) || d.Version <= shown {
			return nil
		}
		shown = d.Version
		return s.streamProgress(d)
	})

	if err == nil {
		defer time.AfterFunc(lateLogs, endLogs).Stop()
		logs.Wait()
	}
	return ended, err
}

// interrupted says what becomes of a deployment whose end is not waited for any more.
func (w *waiting) interrupted(ctx context.Context, s *session, id string) error {
	if w.onInterrupt != cancelIt {
		s.note("%s goes on; cancel it with: slipway cancel %s", id, id)
		return ctx.Err()
	}
	after, cancel := afterwards(ctx)
	defer cancel()
	if _, err := s.cancel(after, client.CancelDeploymentInput{Id: id}); err != nil {
		s.note("%s goes on, because it could not be canceled: %v", id, err)
	} else {
		s.note("%s will be canceled", id)
	}
	return ctx.Err()
}

// grace is how long what has begun may take once the command is interrupted.
const grace = 10 * time.Second

// afterwards returns a context for what is to be done although ctx has ended.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), grace)
}

// throughout returns a context for what is not to be left half done: it ends a while after ctx does.
func throughout(ctx context.Context) (context.Context, context.CancelFunc) {
	through, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return through, func() { stop(); cancel() }
}

// result shows a deployment that was made: at once, or when it has ended. One that lacks approvals goes on only if
// others give them.
func (w *waiting) result(ctx context.Context, s *session, d *client.DeploymentRecord) error {
	awaits := d.Status == client.DeploymentStatusAwaitingApproval
	if awaits {
		if err := s.tellDemanded(ctx, d.Id); err != nil {
			return err
		}
	}
	if w.wait == waitForApproval || w.wait == waitForEnd && !awaits {
		w.fromStart = true
		return w.endOf(ctx, s, d.Id)
	}
	if err := w.showMade(ctx, s, d); err != nil || !awaits {
		return err
	}
	return &codeError{code: exitAwaits}
}

// wantResult makes sure that the fields are there that result shows.
func (w *waiting) wantResult(s *session) error {
	if w.wait == waitForNothing {
		return want(s, deploymentView)
	}
	return want(s, progressView)
}

// showMade shows a deployment whose end is not waited for as the result.
func (w *waiting) showMade(ctx context.Context, s *session, d *client.DeploymentRecord) error {
	if w.wait != waitForNothing {
		r, err := client.Progress(ctx, s.conn, d.Id)
		if err != nil {
			return err
		}
		return s.showEnd(r.Deployment)
	}
	if s.out.format == formatTable && len(s.out.fields) == 0 {
		_, _ = fmt.Fprintln(s.out.to, (&progress{screen: s.out.screen}).sentence(d.Id, string(d.Status)))
		return s.out.to.Flush()
	}
	return show(s, deploymentView, d)
}

var progressView = view[client.DeploymentProgress]{
	columns: []column{
		{"DEPLOYMENT", "id"}, {"STATUS", "status"}, {"VERSION", "release.moduleVersion.version"},
		{"INSTANCE", "moduleInstance.project.slug/moduleInstance.environment.slug/moduleInstance.name"},
		{"RUNNER", "runner.name"}, {"CREATED", "createdAt"}, {"BY", "createdBy.name"},
	},
	name: func(d *client.DeploymentProgress) string { return d.Id },
}

// showEnd shows how a deployment has ended as the result: for people in a line, with what went wrong below it.
func (s *session) showEnd(d *client.DeploymentProgress) error {
	if s.out.format != formatTable || len(s.out.fields) > 0 {
		return show(s, progressView, d)
	}

	p := &progress{screen: s.out.screen}
	took := ""
	if d.CompletedAt != nil && d.StartedAt != nil {
		took = lasting(d.CompletedAt.Sub(*d.StartedAt))
	}

	_, _ = fmt.Fprintln(s.out.to, p.sentence(d.Id, string(d.Status), took))
	if err := s.out.to.Flush(); err != nil { // before what is said of it
		return err
	}

	if d.Error != nil {
		for _, text := range []string{d.Error.Message + " (" + d.Error.Code + ")", textOf(d.Error.Description)} {
			if text != "" {
				s.note("  %s", text)
			}
		}
	}
	return nil
}

// streamProgress writes a deployment as it is now to a result that has each change.
func (s *session) streamProgress(d *client.DeploymentProgress) error {
	e, err := progressView.entryOf(d)
	if err != nil {
		return err
	}
	return s.stream(e.Node, e.name)
}

// stream writes a record of a result that has no end: JSON an object a line.
func (s *session) stream(n *strictjson.Node, name string) error {
	switch s.out.format {
	case formatJSON:
		_, _ = s.out.to.WriteString(escapeJSON(string(s.out.whole(entry{n, name}).JSON())) + "\n")
	case formatYAML:
		s.out.item(s.out.whole(entry{n, name}))
	case formatTable, formatTSV, formatName, formatMarkdown:
		s.out.line(entry{n, name})
	}
	return s.out.to.Flush()
}
