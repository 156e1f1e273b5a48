package secret

import (
	"errors"
	"fmt"
	"os"
)

// WriteNew writes a new secret as a line to a new file that only its owner can read. create makes the secret once the
// file exists, so that there is no secret if there can be no file. If the secret cannot be written, undo takes it back.
// The error wraps fs.ErrExist if the file exists. No file is left after an error.
func WriteNew(path string, create func() (string, error), undo func() error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}

	text, err := create()
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(path))
	}

	if err := WriteLine(file, text); err != nil {
		return errors.Join(err, undo(), os.Remove(path))
	}
	return nil
}

// WriteLine writes a secret as a line, and closes the file.
func WriteLine(file *os.File, text string) error {
	_, err := fmt.Fprintln(file, text)
	return errors.Join(err, file.Sync(), file.Close())
}
