package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"slipway/internal/base/setting"
	"slipway/internal/edge/auth"
	"slipway/internal/service/account"
)

// createTokenIn creates a token and writes it to a new file that nobody but its owner may read, and says so on out. The
// file is made first, so that there is no token if there can be no file; of a token that could not be written,
// nothing stays good.
func createTokenIn(
	ctx context.Context, out io.Writer, accounts *account.Service, in account.NewToken, path string,
) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return setting.Usagef("--to: want a file that does not exist yet, found %q", path)
	}
	if err != nil {
		return err
	}

	created, secret, err := accounts.CreateToken(ctx, in)
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(path))
	}

	if err := writeToken(file, secret); err != nil {
		_, revoked := accounts.RevokeToken(ctx, created.ID)
		err = fmt.Errorf("the token %s could not be written, and is revoked: %w", created.ID, err)
		return errors.Join(err, revoked, os.Remove(path))
	}

	_, err = fmt.Fprintf(out, "wrote the token %s to %s\n", created.ID, path)
	return err
}

// writeToken writes a token as a line, and closes the file.
func writeToken(file *os.File, secret auth.Secret) error {
	_, err := fmt.Fprintln(file, secret.Reveal())
	return errors.Join(err, file.Sync(), file.Close())
}
