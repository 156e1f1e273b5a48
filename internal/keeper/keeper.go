// Package keeper runs a program under a lease in a process of its own, which ends the program before the
// lease ends, whatever becomes of the runner. Keeper and runner speak through the files of a folder, so
// that another runner can go on where one has ended.
package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// Program is what a keeper is to run.
type Program struct {
	// Command is run by sh -c in Dir, with the keeper's environment and Input on its standard input.
	Command string `json:"command"`
	Dir     string `json:"dir"`
	Input   []byte `json:"input"`
	// Grace is how long the program may take to end after SIGTERM; at most a third of the lease.
	Grace time.Duration `json:"grace"`
	// Stderr keeps the lines of standard error among the output, as long as there is room.
	Stderr bool `json:"stderr"`
}

// Reason says why a keeper has stopped a program. It is empty where the program ended by itself.
type Reason string

// The reasons.
const (
	// Expiring is that the lease was about to end.
	Expiring Reason = "lease"
	// Canceled is that the deployment was canceled, Halted that the runner is to end, and Lost that the
	// server has refused the lease.
	Canceled Reason = "cancel"
	Halted   Reason = "halt"
	Lost     Reason = "lost"
	// Unkept is that the keeper itself was killed.
	Unkept Reason = "unkept"
)

// End is how a program ended, with all that it had started.
type End struct {
	// Failure says why the program could not be run.
	Failure string `json:"failure,omitempty"`
	// ExitCode is the program's, -1 where Signal ended it.
	ExitCode int            `json:"exitCode"`
	Signal   syscall.Signal `json:"signal,omitempty"`
	Stopped  Reason         `json:"stopped,omitempty"`
	// Stderr has the last lines of standard error.
	Stderr string `json:"stderr,omitempty"`
}

// keeper is the process that keeps a program.
type keeper struct {
	folder
	Program
	*guard
	output *spool
	said   tail
}

// lockFD is where a keeper inherits the lock on its folder.
const lockFD = 3

// Main is the process of a keeper: it runs the program that stdin describes as the orders in the folder
// say, and returns once the program has ended.
func Main(path string, stdin io.Reader, clock Clock) error {
	// The program gets a signal where the thread that started it ends.
	runtime.LockOSThread()
	// A terminal or a service manager may tell the whole group of the runner to end; the keeper ends after its
	// program, which it stops as ordered. An ignored signal would be ignored by the program, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	syscall.CloseOnExec(lockFD)
	k := &keeper{folder: folder(path)}
	if err := json.NewDecoder(stdin).Decode(&k.Program); err != nil {
		return fmt.Errorf("read what to run: %w", err)
	}
	if err := adopt(); err != nil {
		return err
	}
	var err error
	if k.guard, err = newGuard(k.folder, k.Grace, clock); err != nil {
		return err
	}
	if err := k.save(processFile, processes{Keeper: os.Getpid(), Dir: k.Dir}); err != nil {
		return err
	}
	k.output = &spool{folder: k.folder, guard: k.guard}
	go k.guard.run()
	return k.save(endFile, k.run())
}

// run runs the program to its end.
func (k *keeper) run() End {
	var end End
	err := k.carryOut()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		end.ExitCode = exited.ExitCode()
		if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.Signal = status.Signal()
		}
	} else if err != nil {
		end.Failure = err.Error()
	}
	k.output.close()
	end.Stopped, end.Stderr = k.why(), k.said.text()
	return end
}
