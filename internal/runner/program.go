package runner

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// program is a command that is to run.
type program struct {
	command string
	// dir is where it runs; its lock is the program's too, so that nothing else runs there as long as the
	// program lives, even where the runner does not any more.
	dir   *os.File
	env   []string
	input []byte
	// grace is how long it may take to end after SIGTERM.
	grace time.Duration
	// stdout and stderr take the lines of either, and hold the program up while they do.
	stdout, stderr func(line string)
}

// run runs the program until it has ended with all that it has started and its last line is taken. Where
// ctx ends first the program is stopped, and the cause is the error.
func (p program) run(ctx context.Context) error {
	pipes, err := newPipes()
	if err != nil {
		return err
	}
	defer pipes.close()
	cmd := exec.Command("sh", "-c", p.command) //nolint:gosec // the operator's own command
	cmd.Dir, cmd.Env = p.dir.Name(), p.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.stdin.r, pipes.stdout.w, pipes.stderr.w
	cmd.ExtraFiles = []*os.File{p.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	pipes.started()
	go pipes.feed(p.input)
	var reading sync.WaitGroup
	reading.Go(func() { readLines(&pipes.stdout, p.stdout) })
	reading.Go(func() { readLines(&pipes.stderr, p.stderr) })
	group := cmd.Process.Pid
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err = <-exited:
		stop(group, p.grace)
	case <-ctx.Done():
		stop(group, p.grace)
		<-exited
		err = context.Cause(ctx)
	}
	pipes.ended()
	reading.Wait()
	return err
}

// stop asks the processes of a group to end, waits until they have, and kills those that have not after
// the grace.
func stop(group int, grace time.Duration) {
	if errors.Is(syscall.Kill(-group, syscall.SIGTERM), syscall.ESRCH) {
		return
	}
	over := time.After(grace)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
				return
			}
		case <-over:
			_ = syscall.Kill(-group, syscall.SIGKILL) // whoever has ended needs no killing
			return
		}
	}
}
