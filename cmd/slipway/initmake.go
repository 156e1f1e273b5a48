package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/secret"
	"slipway/internal/base/setting"
	"slipway/internal/data/store/migrate"
	"slipway/internal/edge/auth"
	"slipway/internal/remote/cli"
	"slipway/internal/service/account"
)

// migrationsApplied returns how many migrations the database has, and how many of the program's it lacks. It makes no
// file.
func (s *source) migrationsApplied(ctx context.Context) (applied, pending int, err error) {
	if !s.isThere() {
		return 0, 0, nil
	}
	list, err := migrate.List(ctx, s.migrations())
	for _, m := range list {
		if m.Applied {
			applied++
		} else {
			pending++
		}
	}
	return applied, pending, err
}

// make makes it all. Of two commands at once, the one that comes first to the context, the file and the slug makes it,
// and the other is refused. What is made of something that fails is taken back, but for the organization, of which the
// error says so.
func (i *initial) make(ctx context.Context, env setting.Environment) error {
	var m made
	err := i.context.Save(ctx, env, func(ctx context.Context) (token string, err error) {
		if m.file, err = os.OpenFile(i.runnerToken, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			if errors.Is(err, fs.ErrExist) {
				err = i.tokenIsThere()
			}
			return "", err
		}

		if _, err := migrate.Up(ctx, i.migrations()); err != nil {
			return "", err
		}
		err = i.withAccounts(ctx, env, func(ctx context.Context, accounts *account.Service) error {
			token, err = m.fill(ctx, accounts, i.name, i.org)
			return err
		})
		return token, err
	})

	switch f, _ := errors.AsType[*fault.Error](err); {
	case err == nil:
		return nil
	case f != nil && f.Code == fault.OrganizationSlugTaken, errors.Is(err, cli.ErrContextExists):
		err = refusal{err}
	}
	return m.takeBack(ctx, i, env, err)
}

// made is what of init is made so far.
type made struct {
	file         *os.File
	organization *ent.Organization
	tokens       []string // their ids
}

// fill makes the organization and its tokens, writes the runner's to the file, and returns the admin's.
func (m *made) fill(ctx context.Context, accounts *account.Service, name, slug string) (token string, err error) {
	if m.organization, err = accounts.CreateOrganization(ctx, name, slug); err != nil {
		m.organization = nil
		return "", err
	}

	ctx = actor.With(ctx, actor.From(ctx).In(m.organization.ID))
	create := func(role actor.Role, name string) (auth.Secret, error) {
		created, secret, err := accounts.CreateToken(ctx, account.NewToken{Role: role, Name: name})
		if err == nil {
			m.tokens = append(m.tokens, created.ID)
		}
		return secret, err
	}

	admin, err := create(actor.Admin, "admin")
	if err != nil {
		return "", err
	}
	runner, err := create(actor.Runner, "runner")
	if err != nil {
		return "", err
	}

	return admin.Reveal(), secret.WriteLine(m.file, runner.Reveal())
}

// takeBack revokes the tokens and removes the file, and returns the error that it is for, with what stays. An
// organization has audit events from its beginning, and is never deleted.
func (m *made) takeBack(ctx context.Context, i *initial, env setting.Environment, why error) error {
	if m.file != nil {
		_ = m.file.Close() // it may be closed already
		if err := os.Remove(i.runnerToken); err != nil {
			why = fmt.Errorf("%s; %w", explain(why), err)
		}
	}

	if m.organization == nil {
		return why
	}

	ctx = context.WithoutCancel(ctx) // also if it was interrupted
	err := i.withAccounts(ctx, env, func(ctx context.Context, accounts *account.Service) (err error) {
		ctx = actor.With(ctx, actor.From(ctx).In(m.organization.ID))
		for _, id := range m.tokens {
			_, revoked := accounts.RevokeToken(ctx, id)
			err = errors.Join(err, revoked)
		}
		return err
	})

	state := "its tokens are revoked"
	if err != nil {
		state = "its tokens could not be revoked: " + explain(err)
	}
	return fmt.Errorf("%s; the organization %s was created, and %s; create a token with: slipway token create --org %s",
		explain(why), i.org, state, i.org)
}
