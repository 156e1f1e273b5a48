package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// guardName is the name of guards in lists of processes. It is not the program's, and their command line has no path:
// who kills all processes of one name, or whose command line has a text, leaves them.
const guardName = "lease-guard"

// guardArgument makes this program a guard.
const guardArgument = "guard"

// guarded is what a guard is told, a member at a time: what is not mentioned stays as it is.
type guarded struct {
	processes
	Lease Lease `json:"lease,omitzero"`
	// Ended is whether nothing is left of the program.
	Ended bool `json:"ended,omitempty"`
	// overdue is since when the program should have been killed; zero while it should not.
	overdue time.Time
}

// keeperPatience is how long a guard that has killed the program waits for the keeper to say how it has ended.
const keeperPatience = 5 * time.Second

// guard kills a program whose keeper cannot do it: at once when the keeper is gone, which closes the pipe, and when the
// lease is about to end and the keeper, frozen, has done nothing.
func guard(pipe int, clock Clock) error {
	ignoreSignals()
	if err := setName(guardName); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "guard:", err) // it does its work under any name
	}

	in, g := stream{fd: pipe}, guarded{}
	for {
		// The clock is read first, so what a frozen guard was told meanwhile is heard before it acts on the time.
		now := clock()
		err := hearAll(func(wait time.Duration) (bool, error) { return g.hear(&in, wait) })

		switch {
		case errors.Is(err, io.EOF):
			return g.kill()
		case err == nil:
			err = g.watch(now)
		}
		if err != nil {
			return err
		}
	}
}

// hear waits, for d at most, until the keeper tells something, and reports whether it has. It returns io.EOF when the
// keeper is gone.
func (g *guarded) hear(in *stream, d time.Duration) (heard bool, err error) {
	ready, err := await(d, in.fd)
	if err != nil || len(ready) == 0 {
		return false, err
	}
	if in.read(func(line []byte) { err = errors.Join(err, json.Unmarshal(line, g)) }) != nil {
		return true, io.EOF // a keeper that cannot be heard is as good as gone
	}
	return true, err
}

// watch kills the program if its lease is about to end, and a keeper that then says nothing of it, because it is
// frozen.
func (g *guarded) watch(now Instant) error {
	if g.Group == 0 || !g.Lease.Overdue(now) {
		g.overdue = time.Time{}
		return nil
	}
	if g.overdue.IsZero() {
		g.overdue = time.Now()
	}
	err := g.kill()
	if time.Since(g.overdue) > keeperPatience && os.Getppid() == g.Keeper {
		err = errors.Join(err, syscall.Kill(g.Keeper, syscall.SIGKILL))
	}
	return err
}

// kill kills what is left of the program.
func (g *guarded) kill() error {
	if g.Ended {
		return nil
	}
	if err := g.processes.kill(); !errors.Is(err, errAlive) {
		return err
	}
	return nil // watch tries again
}

// guardian is the keeper's side of its guard. It tells the guard what has changed, and starts another if one dies.
type guardian struct {
	mu    sync.Mutex
	pipe  *os.File
	known guarded
}

// newGuardian starts a guard.
func newGuardian(known guarded) (*guardian, error) {
	g := &guardian{known: known}
	err := g.start()
	return g, err
}

// start starts a guard. The keeper alone has the end of the pipe to which it writes, so the pipe is closed when the
// keeper dies.
func (g *guardian) start() error {
	path, err := executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()

	cmd := exec.Command(path, guardArgument) //nolint:gosec // this program
	cmd.Args[0] = guardName
	cmd.Dir, cmd.Stdin, cmd.Stderr = "/", r, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return err
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	g.pipe = w
	g.send(g.known)
	go g.replace(cmd)
	return nil
}

// restartPause is the time between two guards, so that one which cannot live does not take the machine.
const restartPause = 200 * time.Millisecond

// replace waits for the end of a guard and starts another, unless the program has ended.
func (g *guardian) replace(cmd *exec.Cmd) {
	_ = cmd.Wait()
	for !g.isOver() {
		<-time.After(restartPause)
		if g.isOver() || g.start() == nil {
			return
		}
	}
}

func (g *guardian) isOver() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known.Ended
}

// send sends what is new. A pipe takes such a line whole or not at all, and has room for hundreds: one that takes no
// more is that of a frozen guard, which is not waited for.
func (g *guardian) send(news guarded) {
	text, err := line(news)
	if err != nil {
		panic(err) // ids and times can be encoded
	}
	_ = g.pipe.SetWriteDeadline(time.Now().Add(pollInterval))
	_, _ = g.pipe.Write(text)
}

// startedProgram tells the guard the process group of the program.
func (g *guardian) startedProgram(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known.Group = group
	g.send(guarded{processes: processes{Group: group}})
}

// renewed tells the guard that the lease was renewed.
func (g *guardian) renewed(l Lease) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known.Lease = l
	g.send(guarded{Lease: l})
}

// endedProgram ends the guard, when nothing is left of the program.
func (g *guardian) endedProgram() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known.Ended {
		return
	}
	g.known.Ended = true
	g.send(guarded{Ended: true})
	_ = g.pipe.Close()
}
