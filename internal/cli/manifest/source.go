package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// What git may take, and what it may answer with.
const (
	gitTimeout = 10 * time.Second
	gitBytes   = 16 << 10
)

// GitSource returns the source of a manifest that names none: the URL of git's remote "origin", without credentials, and
// the commit that is checked out in the manifest's folder.
func GitSource(ctx context.Context, folder string) (*Source, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	commit, err := git(ctx, folder, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("the manifest names no source, and there is no commit of git to take it from; "+
			"commit the module, or add source: {url: …, ref: …}: %w", err)
	}
	origin, err := git(ctx, folder, "remote", "get-url", "origin")
	if err != nil {
		return nil, fmt.Errorf("the manifest names no source, and git has no remote \"origin\" to take it from; "+
			"add the remote, or source: {url: …, ref: …}: %w", err)
	}
	origin = withoutCredentials(origin)
	return &Source{URL: &origin, Ref: &commit}, nil
}

// IsChanged reports whether the repository of a folder has changes that are in no commit.
func IsChanged(ctx context.Context, folder string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	changes, err := git(ctx, folder, "status", "--porcelain")
	return changes != "", err
}

// git returns what a command of git prints.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	var out, complaint bounded
	c := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, args...)...) // #nosec G204 -- the arguments are ours
	c.Stdout, c.Stderr = &out, &complaint
	c.WaitDelay = time.Second
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if line, _, _ := strings.Cut(complaint.String(), "\n"); line != "" && !errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w: %s", err, line)
		}
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), gitBytes-b.Len())])
	return len(p), nil
}

// withoutCredentials returns a URL without what a clone may have put into it; other forms of git's have no place for a
// password.
func withoutCredentials(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.User == nil {
		return origin
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.Scheme == "https" || u.Scheme == "http" {
		u.User = nil
	}
	return u.String()
}
