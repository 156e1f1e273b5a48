package testkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// signalCounter makes a test binary the program of SignalCounter. The folder and the name of the process follow.
const signalCounter = "count-signals"

// The names of its processes, which are those of the files with their notes.
const (
	CounterLeader = "leader"
	CounterChild  = "child"
)

// errStopped is how the program fails.
var errStopped = errors.New("it was stopped by a signal")

// counterLinger is how long a process goes on after it is to end, so that one more signal would find it.
const counterLinger = 300 * time.Millisecond

// SignalCounter returns the words of a command, without characters of a shell. Its program has a child in its process
// group, and prints "started" when both run. Each notes its signals in a file of the folder. The program fails when it
// has got one, and succeeds when the folder has the file "end"; then its child ends.
func SignalCounter(t testing.TB, folder string) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(SignalCounterArgs(path, folder), " ")
}

// SignalCounterArgs returns the arguments of the program, for a test binary at a path.
func SignalCounterArgs(path, folder string) []string {
	return []string{path, signalCounter, folder, CounterLeader}
}

// CountSignals is the main function of the processes of SignalCounter, and reports false in every other process.
func CountSignals(args []string) (act func() error, ok bool) {
	if len(args) != 4 || args[1] != signalCounter {
		return nil, false
	}
	return func() error {
		told := make(chan os.Signal, 100)
		signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
		notes, err := os.Create(filepath.Join(args[2], args[3]))
		if err != nil {
			return err
		}
		if args[3] == CounterChild {
			return countInChild(told, notes)
		}
		return countInLeader(args, told, notes)
	}, true
}

// countInLeader starts the child and notes signals until the first, or until the program is to end by itself.
func countInLeader(args []string, told <-chan os.Signal, notes io.Writer) error {
	child := exec.Command(args[0], args[1], args[2], CounterChild) //nolint:gosec // this program
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, "started"); err != nil {
		return err
	}

	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()

	for {
		select {
		case s := <-told:
			return errors.Join(errStopped, note(notes, s), noteAll(told, notes))
		case <-poll.C:
			if _, err := os.Stat(filepath.Join(args[2], "end")); err == nil {
				return nil
			}
		}
	}
}

// countInChild notes signals until the parent has ended, and a while longer.
func countInChild(told <-chan os.Signal, notes io.Writer) error {
	parent := os.Getppid()
	if _, err := fmt.Fprintln(os.Stdout, "ready"); err != nil {
		return err
	}

	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()

	for os.Getppid() == parent {
		select {
		case s := <-told:
			if err := note(notes, s); err != nil {
				return err
			}
		case <-poll.C:
		}
	}

	if err := noteAll(told, notes); err != nil {
		return err
	}
	_, err := fmt.Fprintln(notes, "ended")
	return err
}

// noteAll notes the signals that come until counterLinger is over.
func noteAll(told <-chan os.Signal, notes io.Writer) error {
	late := time.After(counterLinger)
	for {
		select {
		case s := <-told:
			if err := note(notes, s); err != nil {
				return err
			}
		case <-late:
			return nil
		}
	}
}

func note(notes io.Writer, s os.Signal) error {
	_, err := fmt.Fprintln(notes, s)
	return err
}

// CountedSignals returns what a process of SignalCounter has noted: its signals, and "ended" if the child was not
// killed.
func CountedSignals(t testing.TB, folder, process string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, process))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}
