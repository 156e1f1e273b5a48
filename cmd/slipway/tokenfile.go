package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"slipway/ent"
	"slipway/internal/base/secret"
	"slipway/internal/base/setting"
	"slipway/internal/service/account"
)

// createTokenIn creates a token, writes it to a new file that only its owner can read, and reports that on out.
func createTokenIn(
	ctx context.Context, out io.Writer, accounts *account.Service, in account.NewToken, path string,
) error {
	var created *ent.Token
	err := secret.WriteNew(path, func() (string, error) {
		made, text, err := accounts.CreateToken(ctx, in)
		if err != nil {
			return "", err
		}
		created = made
		return text.Reveal(), nil
	}, func() error {
		_, err := accounts.RevokeToken(ctx, created.ID)
		return errors.Join(fmt.Errorf("the token %s could not be written, and is revoked", created.ID), err)
	})
	if errors.Is(err, fs.ErrExist) {
		return setting.Usagef("--to: want a file that does not exist yet, found %q", path)
	}
	if err != nil {
		return err
	}

	_, err = fmt.Fprintf(out, "wrote the token %s to %s\n", created.ID, path)
	return err
}
