package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var logView = view[client.LogRecord]{
	columns: []column{{"NUMBER", "number"}, {"AT", "at"}, {"STREAM", "stream"}, {"TEXT", "text"}},
	name:    func(l *client.LogRecord) string { return l.Text },
}

// logOptions are what the flags of the command say.
type logOptions struct {
	follow, stderr, timestamps bool
	tail                       int
}

func (c *Config) logsCommand() *cobra.Command {
	var o logOptions

	cmd := c.command(&cobra.Command{
		Use: "logs DEPLOYMENT|INSTANCE", Short: "Show the log of a deployment", Args: cobra.ExactArgs(1),
		Long: `Show the output of a deployment's program. --follow continues until the deployment ends. For an
instance, shows its active deployment, or else its last deployment.`,
		Example:           "  slipway logs shop/prod/orders --follow\n  slipway logs dep_01kb… --tail 100 --stderr",
		ValidArgsFunction: c.complete(completeInstances),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, logView); err != nil {
			return err
		}

		deploymentID, err := s.underWay(ctx, args[0], "")
		if err != nil {
			return err
		}
		return o.show(ctx, s, deploymentID)
	})

	setting.AddFlagP(cmd.Flags(), &o.follow, "follow", "f", "false", setting.Bool,
		"follow the log until the deployment ends")
	setting.AddFlag(cmd.Flags(), &o.tail, "tail", "0", setting.Between(0, 200_000),
		"number of lines from the end; 0 shows all")
	setting.AddFlag(cmd.Flags(), &o.stderr, "stderr", "false", setting.Bool, "only lines from standard error")
	setting.AddFlag(cmd.Flags(), &o.timestamps, "timestamps", "false", setting.Bool, "show the time of each line")
	return cmd
}

func (o logOptions) show(ctx context.Context, s *session, deploymentID string) error {
	newest, err := newestLine(ctx, s, deploymentID)
	if err != nil {
		return err
	}

	after := ""
	if o.tail > 0 {
		if after, err = o.showLast(ctx, s, deploymentID); err != nil {
			return err
		}
	}

	if newest == 0 && !o.follow {
		s.note("there are no lines")
	}
	if !o.follow && (newest == 0 || o.tail > 0) {
		return nil
	}

	return s.followLogs(ctx, deploymentID, after, func(line *client.LogRecord) error {
		if err := o.line(s, line); err != nil {
			return err
		}
		if !o.follow && line.Number >= newest {
			return errEnough
		}
		return nil
	})
}

// newestLine returns the number of the last line that there is, 0 for none.
func newestLine(ctx context.Context, s *session, deploymentID string) (int, error) {
	r, err := client.LastLogs(ctx, s.conn, deploymentID, new(1), nil)
	if err != nil || len(r.Deployment.Logs.Nodes) == 0 {
		return 0, err
	}
	return r.Deployment.Logs.Nodes[0].Number, nil
}

// showLast shows the last lines that are wanted, and returns the cursor of the last line that there is.
func (o logOptions) showLast(ctx context.Context, s *session, deploymentID string) (cursor string, err error) {
	lines, cursor, err := o.lastOnes(ctx, s, deploymentID)
	if err != nil {
		return "", err
	}
	for i := range lines {
		if err := o.line(s, &lines[i]); err != nil {
			return "", err
		}
	}
	return cursor, nil
}

// lastOnes returns the last lines that are wanted, in their order, and the cursor of the last line that there is.
func (o logOptions) lastOnes(
	ctx context.Context, s *session, deploymentID string,
) (lines []client.LogRecord, cursor string, err error) {
	var before *string

	for {
		r, err := client.LastLogs(ctx, s.conn, deploymentID, new(pageSize), before)
		if err != nil {
			return nil, "", err
		}

		page := r.Deployment.Logs
		if before == nil {
			cursor = textOf(page.PageInfo.EndCursor)
		}

		for _, line := range slices.Backward(page.Nodes) {
			if o.wanted(&line) && len(lines) < o.tail {
				lines = append(lines, line)
			}
		}

		if before = page.PageInfo.StartCursor; len(lines) == o.tail || !page.PageInfo.HasPreviousPage || before == nil {
			slices.Reverse(lines)
			return lines, cursor, nil
		}
	}
}

func (o logOptions) wanted(line *client.LogRecord) bool {
	return !o.stderr || line.Stream == client.LogStreamStderr
}

// line writes a line of a log: for people as it was printed.
func (o logOptions) line(s *session, line *client.LogRecord) error {
	if !o.wanted(line) {
		return nil
	}
	if s.out.format == formatTable && len(s.out.fields) == 0 {
		if o.timestamps {
			_, _ = s.out.to.WriteString(line.At.UTC().Format(time.RFC3339) + gap)
		}
		_, _ = s.out.to.WriteString(logText(line.Text, s.out.screen.color) + "\n")
		return s.out.to.Flush()
	}
	e, err := logView.entryOf(line)
	if err != nil {
		return err
	}
	return s.stream(e.Node, e.name)
}

// colored is what sets colours and other looks of a text, and does nothing else.
var colored = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// logText returns a line that a program has printed as it may be shown: on a screen with colours they pass.
func logText(text string, color bool) string {
	if !color {
		return safeTabs(colored.ReplaceAllString(text, ""))
	}
	var b strings.Builder
	from := 0
	for _, at := range colored.FindAllStringIndex(text, -1) {
		b.WriteString(safeTabs(text[from:at[0]]) + text[at[0]:at[1]])
		from = at[1]
	}
	if b.WriteString(safeTabs(text[from:])); from > 0 {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}
