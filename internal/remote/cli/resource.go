package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/setting"
)

// resource is a kind of place that is listed, shown, created, renamed, archived and deleted, all in the same way.
type resource[T any] struct {
	// noun is what one of them is called, one the same with its article, and argument what it goes by in usages.
	noun, one, plural, argument string
	// example is one of them.
	example  string
	view     view[T]
	idOf     func(*T) string
	find     func(context.Context, *session, string) (*T, error)
	notFound fault.Code
	// within says which places a list may be limited to, none if it is empty.
	within string
	pages  func(ctx context.Context, s *session, within string, archived *bool, search *string) (pageOf[T], error)

	creation creation[T]
	renaming renaming[T]
	archive  func(ctx context.Context, g graphql.Client, recordID string, acknowledgeLive,
		acknowledgeDependents *bool) (*T, error)
	unarchive write[T]
	remove    write[T]
}

// renaming is how one is renamed.
type renaming[T any] struct {
	usage, example string
	begin          func(*pflag.FlagSet) renamed[T] // adds the flags
}

// renamed is what is to be renamed: what is wrong with the flags, what they change of a record, and the write.
type renamed[T any] struct {
	check       func() error
	differences func(*T) []string
	do          write[T]
}

// write is a write of a record, which comes to the same when it is done again.
type write[T any] func(ctx context.Context, g graphql.Client, recordID string) (*T, error)

// group returns the commands.
func (r resource[T]) group(c *Config) *cobra.Command {
	return Group(r.plural, "Manage "+r.plural,
		r.listCommand(c), r.showCommand(c), r.createCommand(c), r.renameCommand(c), r.archiveCommand(c),
		r.unarchiveCommand(c), r.deleteCommand(c))
}

func (r resource[T]) path(verb string) string { return "  slipway " + r.plural + " " + verb + " " }

func (r resource[T]) listCommand(c *Config) *cobra.Command {
	var p paging
	var archived bool
	var search, within string

	cmd := c.command(&cobra.Command{
		Use: "list", Short: "List " + r.plural,
		Example: strings.TrimRight(r.path("list"), " ") + "\n" + r.path("list") + "--limit 0 -o json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, r.view); err != nil {
			return err
		}

		var onlyArchived *bool
		if archived {
			onlyArchived = &archived
		}

		read, err := r.pages(ctx, s, within, onlyArchived, orNil(search))
		if err != nil {
			return err
		}
		return list(ctx, s, r.view, p, read)
	})

	p.flags(cmd)
	setting.AddFlag(cmd.Flags(), &archived, "archived", "false", setting.Bool, "list archived "+r.plural+" instead")
	setting.AddFlag(cmd.Flags(), &search, "search", "", setting.Text, "only "+r.plural+" whose name contains this text")

	if r.within != "" {
		setting.AddFlag(cmd.Flags(), &within, "in", "", setting.Text, "only "+r.plural+" in "+r.within)
		completeFlag(cmd, "in", c.complete(completeEnvironments))
	}
	return cmd
}

func (r resource[T]) showCommand(c *Config) *cobra.Command {
	return c.command(&cobra.Command{
		Use: "show " + r.argument, Short: "Show " + r.one, Example: r.path("show") + r.example, Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.complete(completions[r.noun]),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, r.view); err != nil {
			return err
		}
		record, err := r.find(ctx, s, args[0])
		if err != nil {
			return err
		}
		return show(s, r.view, record)
	})
}

func (r resource[T]) renameCommand(c *Config) *cobra.Command {
	var to renamed[T]
	cmd := c.changing(&cobra.Command{
		Use: "rename " + r.argument + " " + r.renaming.usage, Short: "Rename " + r.one, Args: cobra.ExactArgs(1),
		Example: r.path("rename") + r.example + " " + r.renaming.example, ValidArgsFunction: c.complete(completions[r.noun]),
	}, func(ctx context.Context, s *session, args []string) error {
		if err := to.check(); err != nil {
			return err
		}
		return r.act(ctx, s, args[0], act[T]{verb: "Rename", find: r.find, differences: to.differences, do: to.do})
	})
	to = r.renaming.begin(cmd.Flags())
	return cmd
}

func (r resource[T]) archiveCommand(c *Config) *cobra.Command {
	var live, dependents bool
	cmd := c.changing(&cobra.Command{
		Use: "archive " + r.argument, Short: "Archive " + r.one + ", so that it accepts no deployments",
		Args:    cobra.ExactArgs(1),
		Example: r.path("archive") + r.example, ValidArgsFunction: c.complete(completions[r.noun]),
	}, func(ctx context.Context, s *session, args []string) error {
		return r.act(ctx, s, args[0], act[T]{verb: "Archive", find: r.findArchived, do: func(
			ctx context.Context, g graphql.Client, recordID string,
		) (*T, error) {
			return r.archive(ctx, g, recordID, &live, &dependents)
		}})
	})
	setting.AddFlag(cmd.Flags(), &live, "acknowledge-live", "false", setting.Bool,
		"archive even if something is live, and keep it running")
	setting.AddFlag(cmd.Flags(), &dependents, "acknowledge-dependents", "false", setting.Bool,
		"archive even if other instances refer to it")
	return cmd
}

func (r resource[T]) unarchiveCommand(c *Config) *cobra.Command {
	return c.changing(&cobra.Command{
		Use: "unarchive " + r.argument, Short: "Restore an archived " + r.noun, Args: cobra.ExactArgs(1),
		Example: r.path("unarchive") + r.example,
	}, func(ctx context.Context, s *session, args []string) error {
		return r.act(ctx, s, args[0], act[T]{verb: "Unarchive", find: r.findArchived, do: r.unarchive})
	})
}

// findArchived returns the record of an id or a name, or else the one that is archived under the name.
func (r resource[T]) findArchived(ctx context.Context, s *session, name string) (*T, error) {
	record, err := r.find(ctx, s, name)
	if _, isID := id.KindOf(name); err == nil || isID || !isCode(err, r.notFound) {
		return record, err
	}

	parts, archived := strings.Split(name, "/"), true
	read, failed := r.pages(ctx, s, "", &archived, &parts[len(parts)-1])
	if failed != nil {
		return nil, failed
	}

	var found []*T
	_, failed = each(ctx, read, allOf, func(page []T) (bool, error) {
		for i := range page {
			if r.view.name(&page[i]) == name {
				found = append(found, &page[i])
			}
		}
		return true, nil
	})

	switch {
	case failed != nil:
		return nil, failed
	case len(found) == 0:
		return nil, err
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, one := range found {
			ids[i] = r.idOf(one)
		}
		return nil, refusedf("several %s are archived as %s: name one by its id, %s", r.plural, name, strings.Join(ids, ", "))
	}
	return found[0], nil
}

// act is something that is done with a record that is there.
type act[T any] struct {
	verb        string
	find        func(context.Context, *session, string) (*T, error)
	differences func(*T) []string // may be nil
	do          write[T]
	final       bool
}

func (r resource[T]) act(ctx context.Context, s *session, name string, a act[T]) error {
	if err := want(s, r.view); err != nil {
		return err
	}

	record, err := a.find(ctx, s, name)
	if err != nil {
		return err
	}

	c := change{
		question: fmt.Sprintf("%s %s %s?", a.verb, r.noun, r.view.name(record)),
		lines:    []string{r.view.name(record) + "  " + r.idOf(record)}, final: a.final,
	}
	if a.differences != nil {
		c.lines = append(c.lines, a.differences(record)...)
	}

	if err := s.confirm(ctx, c); err != nil {
		return err
	}

	if record, err = a.do(ctx, s.conn, r.idOf(record)); err != nil {
		return err
	}
	return show(s, r.view, record)
}

func (r resource[T]) deleteCommand(c *Config) *cobra.Command {
	return c.changing(&cobra.Command{
		Use: "delete " + r.argument, Short: "Delete " + r.one + " that never had a deployment", Args: cobra.ExactArgs(1),
		Example: r.path("delete") + r.example, ValidArgsFunction: c.complete(completions[r.noun]),
	}, func(ctx context.Context, s *session, args []string) error {
		return r.act(ctx, s, args[0], act[T]{verb: "Delete", find: r.find, final: true, do: func(
			ctx context.Context, _ graphql.Client, recordID string,
		) (*T, error) {
			return r.delete(ctx, s, recordID)
		}})
	})
}

// delete deletes a record, and returns what it was. It is there the first time; if it is not any more, the answer that
// it is deleted was lost.
func (r resource[T]) delete(ctx context.Context, s *session, recordID string) (was *T, err error) {
	err = s.conn.write(ctx, func(ctx context.Context) (gone bool, err error) {
		found, err := r.find(ctx, s, recordID)
		if isCode(err, r.notFound) && was != nil {
			return true, nil
		}
		if err == nil {
			was = found
		}
		return false, err
	}, func(ctx context.Context, g graphql.Client) error {
		deleted, err := r.remove(ctx, g, recordID)
		if err == nil {
			was = deleted
		}
		return err
	})
	return was, err
}

// orNil returns nil for an empty text.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
