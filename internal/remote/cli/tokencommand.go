package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// tokenOf runs the program that prints the token of a context, such as one that reads a keyring. What it says on
// standard error is for the person; errors show nothing of what it has printed.
func tokenOf(ctx context.Context, command string, timeout time.Duration, errOut io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	run := exec.CommandContext(ctx, "sh", "-c", command) //nolint:gosec // the person's own command
	out := &limited{most: maxToken}
	run.Stdout, run.Stderr = out, errOut
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGKILL) }
	run.WaitDelay = time.Second

	err := run.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("the token command of the context has not ended within %s", timeout)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case out.over:
		return "", fmt.Errorf("the token command of the context: %w", errTooLong)
	case err != nil:
		return "", fmt.Errorf("the token command of the context has failed: %w", err)
	}

	return tokenFrom(&out.text, "the token command of the context")
}

// limited keeps what is written, up to a length.
type limited struct {
	text bytes.Buffer
	most int
	over bool // whether more came
}

func (l *limited) Write(b []byte) (int, error) {
	if l.over = l.over || l.text.Len()+len(b) > l.most; l.over {
		return 0, errTooLong
	}
	return l.text.Write(b)
}
