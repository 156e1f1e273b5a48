//go:build linux

package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// running is a process with a group of its own. Its log goes to a file: nobody has to read it while something is
// measured.
type running struct {
	command *exec.Cmd
	log     *os.File
	exited  chan struct{}
}

func run(command *exec.Cmd) (*running, error) {
	log, err := os.CreateTemp("", "slipway-bench-*.log")
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, errors.Join(err, log.Close(), os.Remove(log.Name()))
	}
	p := &running{command, log, make(chan struct{})}
	go func() {
		_ = command.Wait() // how it ended is in its log
		close(p.exited)
	}()
	return p, nil
}

// await waits until the process is ready.
func (p *running) await(ctx context.Context, timeout time.Duration, ready func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := ready(ctx); ok || err != nil {
			return err
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it has ended:\n%s", p.printed())
		case <-ctx.Done():
			return fmt.Errorf("it does not serve: %w\n%s", ctx.Err(), p.printed())
		case <-tick.C:
		}
	}
}

// printed returns the beginning of what the process has printed.
func (p *running) printed() string {
	const most = 4000
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[:min(len(text), most)])
}

// stop ends the process, and then what is left of its group.
func (p *running) stop() error {
	const patience = 10 * time.Second
	_ = p.command.Process.Signal(syscall.SIGTERM) // which fails where it has ended
	select {
	case <-p.exited:
	case <-time.After(patience):
	}
	err := syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil // nothing is left
	}
	<-p.exited
	return errors.Join(err, p.log.Close(), os.Remove(p.log.Name()))
}
