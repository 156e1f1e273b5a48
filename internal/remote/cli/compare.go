package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var comparisonView = view[client.ComparisonRecord]{
	columns: []column{{"FROM", "from.id"}, {"TO", "to.id"}, {"SAME", "sameRelease"}},
	name:    func(c *client.ComparisonRecord) string { return c.From.Id + " " + c.To.Id },
}

func (c *Config) compareCommand() *cobra.Command {
	var exitCode bool

	cmd := c.command(&cobra.Command{
		Use: "compare DEPLOYMENT DEPLOYMENT", Short: "Compare what two deployments ship",
		Args: cobra.ExactArgs(2),
		Example: "  slipway compare shop/staging/orders@live shop/prod/orders@live\n" +
			"  slipway compare shop/prod/orders@previous shop/prod/orders@live --exit-code -o markdown",
		ValidArgsFunction: c.complete(completeDeployments),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, comparisonView); err != nil {
			return err
		}

		from, err := s.deploymentID(ctx, args[0])
		if err != nil {
			return err
		}
		to, err := s.deploymentID(ctx, args[1])
		if err != nil {
			return err
		}

		r, err := client.CompareDeployments(ctx, s.conn, from, to)
		if err != nil {
			return err
		}
		if err := s.showComparison(r.CompareDeployments); err != nil {
			return err
		}

		if exitCode && !r.CompareDeployments.SameRelease {
			return errFound
		}
		return nil
	}, formatMarkdown)

	setting.AddFlag(cmd.Flags(), &exitCode, "exit-code", "false", setting.Bool, "exit with 3 if they differ")
	return cmd
}

// showComparison writes a comparison: for people its differences, for programs all of it.
func (s *session) showComparison(c *client.ComparisonRecord) error {
	differences := differencesOf(c)
	switch {
	case s.out.format == formatMarkdown:
		return s.out.markdown(differences)
	case len(s.out.fields) > 0, s.out.format == formatJSON, s.out.format == formatYAML, s.out.format == formatName:
		return show(s, comparisonView, c)
	}
	if len(differences) == 0 {
		s.note("nothing differs")
		return nil
	}
	return showAll(s, differenceView, differences)
}

// difference is one leaf that differs, as it is shown.
type difference struct {
	// Sign is + for what is added, - for what is removed and ~ for what is changed.
	Sign   string `json:"sign"`
	Where  string `json:"where"`
	Before string `json:"before"`
	After  string `json:"after"`
	Note   string `json:"note"`
}

var signs = map[client.ReleaseChangeKind]string{
	client.ReleaseChangeKindAdded: "+", client.ReleaseChangeKindRemoved: "-", client.ReleaseChangeKindChanged: "~",
}

// differencesOf returns the version and the leaves that differ.
func differencesOf(c *client.ComparisonRecord) (all []difference) {
	from := c.FromVersion.ModuleDefinition.Type + " " + c.FromVersion.Version
	to := c.ToVersion.ModuleDefinition.Type + " " + c.ToVersion.Version
	if from != to {
		all = append(all, difference{Sign: "~", Where: "version", Before: from, After: to})
	}
	for _, part := range []struct {
		root    string
		changes []client.ChangeRecord
	}{{"", c.Inputs}, {"artifact:", c.Artifact}} {
		for _, change := range part.changes {
			all = append(all, differenceOf(part.root, change))
		}
	}
	return all
}

func differenceOf(root string, c client.ChangeRecord) difference {
	d := difference{Sign: signs[c.Kind], Where: root + c.Pointer}
	if c.Kind != client.ReleaseChangeKindAdded {
		d.Before = string(c.Before)
	}
	if c.Kind != client.ReleaseChangeKindRemoved {
		d.After = string(c.After)
	}
	var notes []string
	if c.Masked {
		d.Before, d.After = "", ""
		notes = append(notes, "masked")
	}
	if c.Immutable {
		notes = append(notes, "immutable")
	}
	d.Note = strings.Join(notes, ", ")
	return d
}

var differenceView = view[difference]{
	columns: []column{{"", "sign"}, {"WHERE", "where"}, {"BEFORE", "before"}, {"AFTER", "after"}, {"", "note"}},
	name:    func(d *difference) string { return d.Where },
}

// markdown writes differences for a comment on a change.
func (p *printer) markdown(all []difference) error {
	if len(all) == 0 {
		_, _ = fmt.Fprintln(p.to, "Nothing differs.")
		return p.to.Flush()
	}
	_, _ = fmt.Fprint(p.to, "| | where | before | after | |\n|---|---|---|---|---|\n")
	for _, d := range all {
		_, _ = fmt.Fprintf(p.to, "| %s | %s | %s | %s | %s |\n",
			code(d.Sign), code(d.Where), code(d.Before), code(d.After), d.Note)
	}
	return p.to.Flush()
}

// code returns a text as code in a cell of a markdown table, if nothing of it is markup.
func code(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(safe(text), "|", `\|`)
	ticks := "`"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 {
		return ticks + " " + text + " " + ticks
	}
	return ticks + text + ticks
}
