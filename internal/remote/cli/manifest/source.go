package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// What git may take, and what it may answer with.
const (
	gitTimeout = 10 * time.Second
	gitBytes   = 16 << 10
)

// GitSource returns the source of a manifest that names none: the URL of git's remote "origin", without credentials,
// the commit that is checked out in the manifest's folder, and that folder in the repository, or a path below it; nil
// for none.
func GitSource(ctx context.Context, folder string, below *string) (*Source, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()

	commit, err := git(ctx, folder, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("the manifest names no source, and there is no commit of git to take it from; "+
			"commit the module, or add source: {url: …, ref: …}: %w", err)
	}

	origin, err := git(ctx, folder, "remote", "get-url", "origin")
	if err == nil && origin == "" {
		err = errors.New("its URL is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("the manifest names no source, and git has no remote \"origin\" to take it from; "+
			"add the remote, or source: {url: …, ref: …}: %w", err)
	}
	origin = withoutCredentials(origin)

	prefix, err := git(ctx, folder, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("git does not tell where in its repository the manifest is: %w", err)
	}
	return &Source{URL: &origin, Ref: &commit, Path: pathBelow(prefix, below)}, nil
}

// pathBelow returns the path of a folder of a repository, or of what is below it, nil for the root. What leads out of
// the folder stays as it is written, to be refused.
func pathBelow(folder string, below *string) *string {
	joined := strings.TrimSuffix(folder, "/")
	if below != nil {
		if !filepath.IsLocal(*below) {
			return below
		}
		joined = path.Join(joined, *below)
	}
	if joined == "" || joined == "." {
		return nil
	}
	return &joined
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
	args = append([]string{"-C", folder}, args...)
	c := exec.CommandContext(ctx, "git", args...) // #nosec G204 -- the arguments are ours
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

// withoutCredentials returns a URL without what a clone may have put into it: the user of a web server and any
// password. The user that ssh logs in as stays, as it is nothing secret and needed.
func withoutCredentials(origin string) string {
	scheme, rest, isURL := strings.Cut(origin, "://")
	if !isURL { // HOST:PATH with a user before, or a path
		user, host, ok := cutLast(origin, "@")
		if name, _, hasPassword := strings.Cut(user, ":"); ok && hasPassword {
			return name + "@" + host
		}
		return origin
	}

	// By hand, as git does it: a password need not be written as in URLs.
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]

	isWeb := scheme == "https" || scheme == "http"
	if user, host, ok := cutLast(authority, "@"); ok {
		authority = host
		if name, _, _ := strings.Cut(user, ":"); !isWeb && name != "" {
			authority = name + "@" + host
		}
	}
	if at := strings.IndexAny(path, "?#"); isWeb && at >= 0 {
		path = path[:at]
	}

	return scheme + "://" + authority + path
}

// cutLast cuts a text at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return "", s, false
	}
	return s[:at], s[at+len(separator):], true
}
