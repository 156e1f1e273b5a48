package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var auditView = view[client.AuditRecord]{
	columns: []column{
		{"TIME", "createdAt"}, {"BY", "actor.name"}, {"ROLE", "actor.role"}, {"ACTION", "action"}, {"OBJECT", "objectId"},
		{"CHANNEL", "channel"}, {"CHANGES", "changes"},
	},
	name: func(e *client.AuditRecord) string { return e.Id },
}

// auditFlags are the flags that select audit events.
type auditFlags struct {
	by, action, object string
	from, before       time.Time
}

func (c *Config) auditCommand() *cobra.Command {
	var p paging
	var f auditFlags

	cmd := c.command(&cobra.Command{
		Use: "audit", Short: "List who changed what, newest first", Args: cobra.NoArgs,
		Long: "List the audit events of the organization: every change, with its author, role and request. For admins.",
		Example: "  slipway audit --object shop/prod/orders\n  slipway audit --by ci\n" +
			"  slipway audit --action rollbackDeployment --from 2026-03-01T00:00:00Z --limit 0 -o json",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, auditView); err != nil {
			return err
		}
		filter, err := f.filter(ctx, s)
		if err != nil {
			return err
		}
		return list(ctx, s, auditView, p, s.auditPages(filter))
	})

	p.flags(cmd)
	fs := cmd.Flags()
	setting.AddFlag(fs, &f.by, "by", "", setting.Text, "only changes by a token: its id, or the name of an active one")
	setting.AddFlag(fs, &f.action, "action", "", setting.Text, "only this mutation, such as rollbackDeployment")
	setting.AddFlag(fs, &f.object, "object", "", setting.Text,
		"only changes of a project, an environment or an instance, or of the object with this id")
	completeFlag(cmd, "object", c.complete(completeInstances))
	setting.AddFlag(fs, &f.from, "from", "", moment, "only changes at or after this time")
	setting.AddFlag(fs, &f.before, "before", "", moment, "only changes before this time")
	return cmd
}

// filter returns the filter of the API, for which it looks up what the flags name.
func (f *auditFlags) filter(ctx context.Context, s *session) (*client.AuditEventFilter, error) {
	filter := &client.AuditEventFilter{Action: orNil(f.action)}
	if !f.from.IsZero() {
		filter.CreatedFrom = &f.from
	}
	if !f.before.IsZero() {
		filter.CreatedBefore = &f.before
	}

	if f.by != "" {
		token, err := s.token(ctx, f.by)
		if err != nil {
			return nil, err
		}
		filter.TokenId = &token.Id
	}

	if f.object != "" {
		object, err := s.objectID(ctx, f.object)
		if err != nil {
			return nil, err
		}
		filter.ObjectId = &object
	}
	return filter, nil
}

// objectID returns the id of the place that a path names, and any other text as it is.
func (s *session) objectID(ctx context.Context, ref string) (string, error) {
	switch {
	case isPath(ref, 3):
		instance, err := s.instance(ctx, ref)
		if err != nil {
			return "", err
		}
		return instance.Id, nil
	case isPath(ref, 2):
		environment, err := s.environment(ctx, ref)
		if err != nil {
			return "", err
		}
		return environment.Id, nil
	case isID(ref):
		return ref, nil
	default:
		project, err := s.project(ctx, ref)
		if err != nil {
			return "", err
		}
		return project.Id, nil
	}
}

func (s *session) auditPages(filter *client.AuditEventFilter) pageOf[client.AuditRecord] {
	return func(ctx context.Context, first *int, after *string) ([]client.AuditRecord, client.PageEnd, error) {
		r, err := client.Audit(ctx, s.conn, filter, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.AuditEvents.Nodes, r.AuditEvents.PageInfo, nil
	}
}
