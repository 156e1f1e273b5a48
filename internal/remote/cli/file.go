package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"slipway/internal/remote/cli/manifest"
)

// maxFile is the longest file that is sent, in bytes.
const maxFile = 16 << 20

// standardInput is the name of a file that stands for standard input.
const standardInput = "-"

// readFile reads a file, or standard input, of at most so many bytes.
func (s *session) readFile(ctx context.Context, name string, most int64) ([]byte, error) {
	from := s.in
	if name == standardInput {
		if s.typed != nil { // a plan that is made anew
			return s.typed, nil
		}
	} else {
		f, err := os.Open(name)
		if name == manifest.FileName && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; name the manifest, or write one with: slipway modules init", err)
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		from = f
	}

	text, err := await(ctx, func() (string, error) {
		text, err := io.ReadAll(io.LimitReader(from, most+1))
		if err == nil && int64(len(text)) > most {
			err = fmt.Errorf("%s: want at most %d bytes, found more", name, most)
		}
		return string(text), err
	})
	if err != nil {
		return nil, err
	}

	if name == standardInput {
		s.typed = []byte(text)
	}
	return []byte(text), nil
}

// titleOfFile is what messages call a file.
func titleOfFile(name string) string {
	if name == standardInput {
		return "<stdin>"
	}
	return name
}
