package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

var releaseView = view[client.ReleaseRecord]{
	columns: []column{
		{"RELEASE", "id"}, {"MODULE", "moduleVersion.moduleDefinition.type"}, {"VERSION", "moduleVersion.version"},
		{"QUARANTINED", "quarantine.createdAt"}, {"BY", "quarantine.createdBy.name"}, {"UNTIL", "quarantine.until"},
		{"REASON", "quarantine.reason"},
	},
	sheet: []column{
		{"release", "id"}, {"module", "moduleVersion.moduleDefinition.type"}, {"version", "moduleVersion.version"},
		{"quarantined", "quarantine.createdAt"}, {"by", "quarantine.createdBy.name"}, {"until", "quarantine.until"},
		{"reason", "quarantine.reason"},
	},
	name: func(r *client.ReleaseRecord) string { return r.Id },
}

// moment reads a time.
var moment = setting.Parser[time.Time]{Kind: "TIME", Parse: func(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return at, setting.Unlike("a time such as 2026-03-01T09:30:00Z", s)
	}
	return at.UTC(), nil
}}

func (c *Config) quarantineCommand() *cobra.Command {
	var reason string
	var until time.Time

	cmd := c.changing(&cobra.Command{
		Use: "quarantine RELEASE|DEPLOYMENT --reason TEXT", Short: "Block a release from being deployed again",
		Args: cobra.ExactArgs(1),
		Example: "  slipway quarantine shop/prod/orders@last --reason \"Loses messages.\"\n" +
			"  slipway quarantine rel_01kb… --reason \"Not before the sale.\" --until 2026-12-01T00:00:00Z",
		ValidArgsFunction: c.complete(completeDeployments),
	}, func(ctx context.Context, s *session, args []string) error {
		if reason == "" {
			return setting.Usagef("--reason: want why the release is bad, found nothing")
		}

		in := client.QuarantineReleaseInput{Reason: reason}
		if !until.IsZero() {
			in.Until = &until
		}

		made := func(r *client.ReleaseRecord) bool {
			q := r.Quarantine
			return q != nil && q.Reason == reason && (q.Until == nil) == (in.Until == nil) &&
				(q.Until == nil || q.Until.Equal(until))
		}

		return s.changeRelease(ctx, args[0], "Quarantine", []string{"reason: " + reason}, made, func(
			ctx context.Context, g graphql.Client, releaseID string,
		) (*client.ReleaseRecord, error) {
			in.Id = releaseID
			r, err := client.QuarantineRelease(ctx, g, in)
			if err != nil {
				return nil, err
			}
			return &r.QuarantineRelease.Release, nil
		})
	})

	setting.AddFlag(cmd.Flags(), &reason, "reason", "", setting.Text, "reason why the release is bad")
	setting.AddFlag(cmd.Flags(), &until, "until", "", moment,
		"end of the quarantine (default: never)")
	return cmd
}

func (c *Config) unquarantineCommand() *cobra.Command {
	return c.changing(&cobra.Command{
		Use: "unquarantine RELEASE|DEPLOYMENT", Short: "Lift the quarantine of a release", Args: cobra.ExactArgs(1),
		Example:           "  slipway unquarantine shop/prod/orders@last",
		ValidArgsFunction: c.complete(completeDeployments),
	}, func(ctx context.Context, s *session, args []string) error {
		made := func(r *client.ReleaseRecord) bool { return r.Quarantine == nil }
		return s.changeRelease(ctx, args[0], "End the quarantine of", nil, made, func(
			ctx context.Context, g graphql.Client, releaseID string,
		) (*client.ReleaseRecord, error) {
			r, err := client.UnquarantineRelease(ctx, g, client.UnquarantineReleaseInput{Id: releaseID})
			if err != nil {
				return nil, err
			}
			return &r.UnquarantineRelease.Release, nil
		})
	})
}

// changeRelease does something with a release that must not be done twice; made reports whether it is done.
func (s *session) changeRelease(
	ctx context.Context, ref, verb string, lines []string, made func(*client.ReleaseRecord) bool,
	do func(context.Context, graphql.Client, string) (*client.ReleaseRecord, error),
) error {
	if err := want(s, releaseView); err != nil {
		return err
	}

	releaseID, err := s.releaseID(ctx, ref)
	if err != nil {
		return err
	}
	release, err := s.release(ctx, releaseID)
	if err != nil {
		return err
	}

	version := release.ModuleVersion
	about := fmt.Sprintf("%s  %s %s", release.Id, version.ModuleDefinition.Type, version.Version)
	if err := s.confirm(ctx, change{
		question: verb + " " + release.Id + "?", lines: append([]string{about}, lines...),
	}); err != nil {
		return err
	}

	err = s.conn.write(ctx, func(ctx context.Context) (bool, error) {
		var err error
		release, err = s.release(ctx, releaseID)
		return err == nil && made(release), err
	}, func(ctx context.Context, g graphql.Client) error {
		release, err = do(ctx, g, releaseID)
		return err
	})
	if err != nil {
		return err
	}
	return show(s, releaseView, release)
}

func (s *session) release(ctx context.Context, releaseID string) (*client.ReleaseRecord, error) {
	r, err := client.Release(ctx, s.conn, releaseID)
	switch {
	case err != nil:
		return nil, err
	case r.Release == nil:
		return nil, refusedf("there is no release %s (%s)", releaseID, fault.ReleaseNotFound)
	}
	return r.Release, nil
}
