// Package keeper runs a program under a lease, in such a way that the program has ended before its lease ends,
// whatever happens to the runner that started it.
//
// A server gives the lease of a deployment to one runner at a time. When the lease has ended, it may give the
// deployment's module instance to another runner, and the first program must not run any more. The runner alone
// cannot promise that: it may be killed, frozen or cut off from the network. So each program has a keeper, a process
// of its own that outlives the runner: the runner's binary, started again with other arguments ([Called], [Main]).
// The keeper starts the program in a process group, keeps what it prints, and watches the lease by two clocks.
// When the lease is about to end it sends SIGTERM to the group, and SIGKILL before the lease ends. The kernel kills
// the program if its keeper is killed; and a runner kills a program that is overdue, if the keeper has not done so.
//
// Keeper and runner communicate by files in a folder of the program. The runner writes the orders: the lease, which
// it renews, and when to stop. The keeper writes the output and, at last, how the program ended. So a runner that is
// started later can adopt the program where an earlier one has left it ([Adopt]).
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
	"slices"
	"syscall"
	"time"
)

// Program is what a keeper is to run.
type Program struct {
	// Command is run by sh -c in the folder Dir, with the keeper's environment and with Input on standard input.
	Command string `json:"command"`
	Dir     string `json:"dir"`
	Input   []byte `json:"input"`
	// Grace is how long the program may take to end after SIGTERM. A keeper gives it a third of the lease at most.
	Grace time.Duration `json:"grace"`
}

// Reason is why a program was stopped. It is empty if the program ended by itself.
type Reason string

// The reasons. Their values are in the files of programs that other versions may have started.
const (
	// LeaseExpiring: the lease was about to end.
	LeaseExpiring Reason = "lease"
	// LeaseLost: the server has refused the lease.
	LeaseLost Reason = "lost"
	// Canceled: the deployment was canceled.
	Canceled Reason = "cancel"
	// Shutdown: the runner was shutting down.
	Shutdown Reason = "halt"
	// KeeperKilled: the keeper itself was killed.
	KeeperKilled Reason = "unkept"
)

// End is how a program ended, with all processes of its group.
type End struct {
	// Failure is why the program could not be run.
	Failure string `json:"failure,omitempty"`
	// ExitCode is the program's, -1 if Signal ended it.
	ExitCode int            `json:"exitCode"`
	Signal   syscall.Signal `json:"signal,omitempty"`
	Stopped  Reason         `json:"stopped,omitempty"`
	// Stderr has the last lines of standard error.
	Stderr string `json:"stderr,omitempty"`
}

// keeper is the state of a keeper's process.
type keeper struct {
	folder
	Program
	*watchdog
	output    *spool
	lastLines tail
}

// command has the arguments that make this program a keeper; the path of the folder follows them.
var command = []string{"runner", "keep"}

// Called reports whether the arguments of this process make it a keeper, and returns the path of its folder. A
// program that calls Start must begin by calling this, and Main if it reports true.
func Called(args []string) (path string, ok bool) {
	if len(args) != len(command)+2 || !slices.Equal(args[1:len(args)-1], command) {
		return "", false
	}
	return args[len(args)-1], true
}

// lockFD is the file descriptor of the lock that a keeper inherits.
const lockFD = 3

// Main is the main function of a keeper's process. It runs the Program that stdin has as JSON, as the orders in the
// folder say, and returns when the program has ended.
func Main(path string, stdin io.Reader, clock Clock) error {
	// The kernel kills the program when the thread that started it ends.
	runtime.LockOSThread()
	// A terminal or a service manager may send a signal to the whole group of the runner, but only orders stop the
	// program, and the keeper ends after it. The signals are caught because the program would inherit ignored ones.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	syscall.CloseOnExec(lockFD)
	k := &keeper{folder: folder(path)}
	if err := json.NewDecoder(stdin).Decode(&k.Program); err != nil {
		return fmt.Errorf("read what to run: %w", err)
	}
	if err := becomeSubreaper(); err != nil {
		return err
	}
	var err error
	if k.watchdog, err = newWatchdog(k.folder, k.Grace, clock); err != nil {
		return err
	}
	if err := k.save(processFile, processes{Keeper: os.Getpid(), Dir: k.Dir}); err != nil {
		return err
	}
	k.output = &spool{folder: k.folder, watchdog: k.watchdog}
	go k.watchdog.run()
	return k.save(endFile, k.run())
}

// run runs the program to its end.
func (k *keeper) run() End {
	var end End
	err := k.runProgram()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		end.ExitCode = exited.ExitCode()
		if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.Signal = status.Signal()
		}
	} else if err != nil {
		end.Failure = err.Error()
	}
	k.output.close()
	end.Stopped, end.Stderr = k.stopReason(), k.lastLines.text()
	return end
}
