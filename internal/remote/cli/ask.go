package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// change is something that a command is about to do.
type change struct {
	// question asks for it, such as Archive project shop?
	question string
	// lines tell what it comes to.
	lines []string
	// final is whether it cannot be undone.
	final bool
}

// confirm shows where and as whom a change is made and what it comes to. On a terminal it asks; without one, or with
// --yes, the command line is the answer. What cannot be undone needs --yes then.
func (s *session) confirm(ctx context.Context, c change) error {
	if err := s.tellWho(ctx); err != nil {
		return err
	}
	for _, line := range c.lines {
		s.note("  %s", line)
	}

	if c.final && !s.yes && !s.interactive() {
		return setting.Usagef("--yes: want it, because this cannot be undone and there is no terminal to ask on; " +
			"nothing was changed")
	}
	if !s.interactive() {
		return nil
	}

	_, _ = fmt.Fprintf(s.errOut, "%s [y/N] ", safe(c.question))
	answer, err := s.readLine(ctx)
	if !strings.HasSuffix(answer, "\n") { // the question stands in the last line
		_, _ = fmt.Fprintln(s.errOut)
	}
	if err != nil {
		return err
	}

	if yes := strings.ToLower(strings.TrimSpace(answer)); yes != "y" && yes != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// tellWho tells where and as whom something is done.
func (s *session) tellWho(ctx context.Context) error {
	viewer, err := s.viewer(ctx)
	if err != nil {
		return err
	}
	organization := s.conn.Organization
	if viewer.Organization != nil {
		organization = viewer.Organization.Slug
	}
	who := []string{s.conn.Server, organization, fmt.Sprintf("as %s (%s)", viewer.Name, viewer.Role)}
	if organization == "" {
		who = []string{who[0], who[2]}
	}
	s.note("%s", strings.Join(who, ", "))
	return nil
}

// interactive reports whether a question is answered by a person.
func (s *session) interactive() bool {
	_, typed := terminal(s.in)
	return typed && s.asks && !s.yes
}

// viewer returns who the token is.
func (s *session) viewer(ctx context.Context) (*client.ViewerRecord, error) {
	r, err := client.Viewer(ctx, s.conn)
	if err != nil {
		return nil, err
	}
	if r.Viewer == nil {
		return nil, &codeError{exitDenied, fmt.Errorf("%s does not know who asks", s.conn.Server)}
	}
	return r.Viewer, nil
}

// readLine reads a line of standard input, of at most 1 KiB, or returns when ctx ends.
func (s *session) readLine(ctx context.Context) (string, error) {
	return await(ctx, func() (string, error) {
		line, err := bufio.NewReader(io.LimitReader(s.in, 1<<10)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	})
}

// readSecret reads a line of a terminal that does not show it, from before it is asked for.
func (s *session) readSecret(ctx context.Context, fd int, prompt string) (string, error) {
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, state) }()
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.in, s.errOut}, "")
	text, err := await(ctx, func() (string, error) { return screen.ReadPassword(prompt) })
	if errors.Is(err, io.EOF) { // Ctrl-C and Ctrl-D are no signals here
		err = &codeError{exitSignaled, errors.New("interrupted")}
	}
	return text, err
}

// await returns what read returns, or the error of ctx when that ends before. A read of a terminal cannot be ended: it
// goes with the program.
func await(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
