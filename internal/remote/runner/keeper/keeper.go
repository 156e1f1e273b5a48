// Package keeper runs a program under a lease, in such a way that the program has ended before its lease ends,
// whatever happens to the runner that started it.
//
// A server gives the lease of a deployment to one runner at a time. When the lease has ended, it may give the
// deployment's module instance to another runner, and the first program must not run any more. The runner alone
// cannot promise that: it may be killed, frozen or cut off from the network. So each program has a keeper, a process
// of its own that outlives the runner: the runner's binary, started again with other arguments ([Called], [Main]).
// The keeper starts the program in a process group, keeps what it prints, and watches the lease by two clocks.
// When the lease is about to end it sends SIGTERM, once, to the group or to the program alone ([StopMode]), and SIGKILL
// before the lease ends. The kernel kills the program if its keeper is killed; and a runner kills a program that is
// overdue, if the keeper has not done so.
//
// A keeper can be killed and frozen as well. So each has a guard, a third process, which the keeper tells each new end
// of the lease. The guard kills the program once the keeper is gone, and before the lease ends if the keeper has not.
//
// Keeper and runner talk over a socket in a folder of the program, which needs no room on a disk. The runner tells the
// lease, which it renews, and when to stop; the keeper tells how the program has ended. The folder has what the program
// printed, and what must outlive the keeper. So a runner that is started later can adopt the program if an earlier
// one has left it ([Adopt]).
package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	// Command is run as Stop says, in the folder Dir, with the keeper's environment and with Input on standard input.
	Command string `json:"command"`
	Dir     string `json:"dir"`
	Input   []byte `json:"input"`
	// Stop is who gets SIGTERM; "" stands for StopGroup.
	Stop StopMode `json:"stop,omitempty"`
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
	// Unknown: the keeper ended, and left no word of how the program did.
	Unknown Reason = "unknown"
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
	// Lost is how many lines of the output found no room.
	Lost int `json:"lost,omitempty"`
}

// task is what a keeper is told at its start, on standard input.
type task struct {
	Program
	Lease Lease `json:"lease"`
}

// keeper is the state of a keeper's process.
type keeper struct {
	folder
	Program
	*watchdog
	*desk
	guardian  *guardian
	output    *spool
	lastLines tail
}

// command has the arguments that make this program a keeper; the path of the folder follows them.
var command = []string{"runner", "keep"}

// GuardPath is in the place of a path for Main if the process is a guard.
const GuardPath = "-"

// Called reports whether the arguments of this process make it a keeper or a keeper's guard, and returns the path to
// call Main with. A program that calls Start must begin by calling this, and Main if it reports true.
func Called(args []string) (path string, ok bool) {
	switch {
	case len(args) == 2 && args[0] == guardName && args[1] == guardArgument:
		return GuardPath, true
	case len(args) == len(command)+2 && slices.Equal(args[1:len(args)-1], command):
		return args[len(args)-1], true
	}
	return "", false
}

// The file descriptors that a keeper inherits: of the lock that it has as long as it lives, and of the socket.
const lockFD, socketFD = 3, 4

// Main is the main function of a keeper's process. It runs the Program that stdin has as JSON, as the runner says, and
// returns when the program has ended.
func Main(path string, stdin io.Reader, clock Clock) error {
	if path == GuardPath {
		return guard(syscall.Stdin, clock)
	}

	// The kernel kills the program when the thread that started it ends.
	runtime.LockOSThread()
	ignoreSignals()
	syscall.CloseOnExec(lockFD)
	syscall.CloseOnExec(socketFD)

	var t task
	if err := json.NewDecoder(stdin).Decode(&t); err != nil {
		return fmt.Errorf("read what to run: %w", err)
	}

	if err := becomeSubreaper(); err != nil {
		return err
	}

	k := &keeper{folder: folder(path), Program: t.Program, watchdog: newWatchdog(t.Lease, t.Grace, clock)}
	self := processes{Keeper: os.Getpid(), Dir: k.Dir}
	if err := k.save(processFile, self); err != nil {
		return err
	}

	var err error
	if k.desk, err = newDesk(os.NewFile(socketFD, socketFile)); err != nil {
		return err
	}
	if k.guardian, err = newGuardian(guarded{processes: self, Lease: t.Lease}); err != nil {
		return fmt.Errorf("start a guard: %w", err)
	}

	k.output = &spool{folder: k.folder, watchdog: k.watchdog}
	go k.watch()
	return k.report(k.run())
}

// ignoreSignals makes this process ignore what a terminal or a service manager may send to the whole group of the
// runner: only orders stop the program, and the keeper ends after it. The signals are caught because the program would
// inherit ignored ones.
func ignoreSignals() {
	signal.Notify(make(chan os.Signal, 1),
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
}

// watch hears the runner and looks at the clocks as long as the keeper lives.
func (k *keeper) watch() {
	for {
		// The clock is read first, so what a frozen keeper was told meanwhile is heard before it acts on the time.
		now := k.clock()
		err := hearAll(func(wait time.Duration) (bool, error) { return k.hear(wait, k.take, k.all) })
		if err != nil {
			// The lease cannot be renewed, and so the program ends in time.
			_, _ = fmt.Fprintln(os.Stderr, "keeper:", err)
			<-time.After(pollInterval)
		}
		k.update(now)
	}
}

func (k *keeper) take(m message) {
	if k.watchdog.take(m) {
		k.guardian.renewed(k.all().Lease)
	}
}

// run runs the program to its end.
func (k *keeper) run() End {
	var end End
	err := k.runProgram()
	k.guardian.endedProgram()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		end.ExitCode = exited.ExitCode()
		if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.Signal = status.Signal()
		}
	} else if err != nil {
		end.Failure = err.Error()
	}

	end.Lost = k.output.close()
	end.Stopped, end.Stderr = k.stopReason(), k.lastLines.text()
	if end.Stopped == "" && end.Signal == syscall.SIGKILL && k.all().Lease.Overdue(k.clock()) {
		end.Stopped = LeaseExpiring // the guard saw it first
	}
	return end
}

// A keeper whose folder has no room for the end stays to tell it: until a runner has removed the folder, which is
// looked for every stayInterval, or for maxStay, after which no server waits for the end any more.
const stayInterval, maxStay = time.Second, 24 * time.Hour

// report tells the end of the program, and stores it for runners that come later.
func (k *keeper) report(end End) error {
	k.setEnd(&end)
	err := k.save(endFile, k.all())
	k.send(k.all())
	if err == nil {
		return nil
	}

	ticker, late := time.NewTicker(stayInterval), time.After(maxStay)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-late:
			return err
		}

		if _, gone := os.Stat(k.path(ordersFile)); errors.Is(gone, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			err = k.save(endFile, k.all())
		}
	}
}
