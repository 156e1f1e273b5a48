package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/internal/base/setting"
)

// ErrContextExists is the error of a context whose name another has.
var ErrContextExists = errors.New("there is a context of the name already")

// NewContext is a context that another command than login makes.
type NewContext struct {
	Name, Server, Organization string
}

// Check returns the error that Save would refuse the context with, and changes nothing.
func (n NewContext) Check(env setting.Environment) error {
	if !isSafe(n.Server) {
		return setting.Usagef("%s: want https, or http to this machine, so that nobody on the way can read the token, "+
			"found http to another", n.Server)
	}
	path, err := contextsPath(env)
	if err != nil {
		return err
	}
	saved, err := readContexts(path)
	if err != nil {
		return err
	}
	return n.free(path, saved)
}

func (n NewContext) free(path string, saved contexts) error {
	if _, ok := saved.Contexts[n.Name]; ok {
		return fmt.Errorf("%s: context %s: %w; use it, or delete it with: slipway context delete %s",
			path, n.Name, ErrContextExists, n.Name)
	}
	return nil
}

// Save calls makeToken and keeps the context with what that returns, as the current one. Meanwhile no other command
// changes the contexts. If the name is taken, makeToken is not called; if makeToken fails, nothing is kept.
func (n NewContext) Save(
	ctx context.Context, env setting.Environment, makeToken func(context.Context) (string, error),
) error {
	const patience = 30 * time.Second // as that of the commands

	path, err := contextsPath(env)
	if err != nil {
		return err
	}

	return (&Config{Env: env, Patience: patience}).changeContexts(ctx, path, func(c *contexts) error {
		if err := n.free(path, *c); err != nil {
			return err
		}
		token, err := makeToken(ctx)
		if err != nil {
			return err
		}

		if c.Contexts == nil {
			c.Contexts = map[string]savedContext{}
		}
		c.Contexts[n.Name], c.Current = savedContext{Server: n.Server, Organization: n.Organization, Token: token}, n.Name
		return nil
	})
}
