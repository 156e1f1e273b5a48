package cli

import (
	"context"
	"fmt"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/base/setting"
)

// creation is how one is created.
type creation[T any] struct {
	usage, example string
	// begin adds the flags, and returns how one of a name is made: whether one that is there is the same, and the write.
	begin func(*pflag.FlagSet) func(ctx context.Context, s *session, name string) (made[T], error)
}

// made is what is to be created.
type made[T any] struct {
	same   func(*T) bool
	create func(ctx context.Context, g graphql.Client) (*T, error)
}

func (r resource[T]) createCommand(c *Config) *cobra.Command {
	var ifMissing bool
	var prepare func(ctx context.Context, s *session, name string) (made[T], error)

	cmd := c.changing(&cobra.Command{
		Use: "create " + r.creation.usage, Short: "Create " + r.one, Args: cobra.ExactArgs(1),
		Example: r.path("create") + r.creation.example,
		Long:    "Create " + r.one + ". Succeeds if an identical one exists.",
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, r.view); err != nil {
			return err
		}

		m, err := prepare(ctx, s, args[0])
		if err != nil {
			return err
		}

		record, err := r.there(ctx, s, args[0], m, ifMissing)
		if err != nil {
			return err
		}
		if record != nil {
			s.note("%s already exists", args[0])
			return show(s, r.view, record)
		}

		if err := s.confirm(ctx, change{question: fmt.Sprintf("Create %s %s?", r.noun, args[0])}); err != nil {
			return err
		}

		err = s.conn.write(ctx, func(ctx context.Context) (bool, error) {
			var err error
			record, err = r.there(ctx, s, args[0], m, ifMissing)
			return record != nil, err
		}, func(ctx context.Context, g graphql.Client) error {
			record, err = m.create(ctx, g)
			return err
		})
		if err != nil {
			return err
		}
		return show(s, r.view, record)
	})

	prepare = r.creation.begin(cmd.Flags())
	completeFlag(cmd, "module", c.complete(completeModules))
	setting.AddFlag(cmd.Flags(), &ifMissing, "if-missing", "false", setting.Bool,
		"succeed if it exists, even if it differs")
	return cmd
}

// there returns the record that counts as created, nil if there is none.
func (r resource[T]) there(ctx context.Context, s *session, name string, m made[T], whatever bool) (*T, error) {
	record, err := r.find(ctx, s, name)
	if isCode(err, r.notFound) {
		return nil, nil
	}
	if err != nil || whatever || m.same(record) {
		return record, err
	}
	return nil, nil // the server says what is in the way
}
