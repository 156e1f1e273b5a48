package keeper_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
)

// stops are the ways in which a program comes to its end.
var stops = map[string]func(t *testing.T, w *world, k *keeper.Handle, folder string){
	"canceled":  func(t *testing.T, w *world, k *keeper.Handle, _ string) { order(t, w, k, keeper.Canceled) },
	"shut down": func(t *testing.T, w *world, k *keeper.Handle, _ string) { order(t, w, k, keeper.Shutdown) },
	"lost":      func(t *testing.T, w *world, k *keeper.Handle, _ string) { order(t, w, k, keeper.LeaseLost) },
	"out of lease": func(t *testing.T, w *world, _ *keeper.Handle, _ string) {
		w.jump(t, shift{Wall: 45 * time.Minute, Boot: 45 * time.Minute})
	},
	byItself: func(t *testing.T, _ *world, _ *keeper.Handle, folder string) {
		if err := os.WriteFile(filepath.Join(folder, "end"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	},
}

// byItself is the way of a program that nobody stops.
const byItself = "ended by itself"

func order(t *testing.T, w *world, k *keeper.Handle, why keeper.Reason) {
	t.Helper()
	if err := k.Stop(why, w.clock().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func TestEachProcessGetsTheSignalThatIsMeantForItOnce(t *testing.T) {
	t.Parallel()
	const term = "terminated"
	for name, stop := range stops {
		for _, of := range []struct {
			mode keeper.StopMode
			// command has the words of the program.
			command string
			// leader and child are what they get.
			leader, child []string
		}{
			{keeper.StopProgram, "%s", []string{term}, nil},
			{keeper.StopGroup, "exec %s", []string{term}, []string{term, "ended"}},
			{"", "exec %s", []string{term}, []string{term, "ended"}},
			{keeper.StopGroup, "%s; exit 3", []string{term}, []string{term, "ended"}},
		} {
			t.Run(strings.Join([]string{name, string(of.mode), of.command}, ", "), func(t *testing.T) {
				t.Parallel()
				w, folder := newWorld(t), t.TempDir()
				command := fmt.Sprintf(of.command, testkit.SignalCounter(t, folder))
				k := w.startProgram(t, w.lease(time.Hour), keeper.Program{Command: command, Stop: of.mode, Grace: time.Hour})
				lines(t, k, 0, 1)
				stop(t, w, k, folder)
				end(t, k)
				if name == byItself {
					of.leader = nil
				}
				if got := testkit.CountedSignals(t, folder, testkit.CounterLeader); !slices.Equal(got, of.leader) {
					t.Errorf("the leader got %q, want %q", got, of.leader)
				}
				if got := testkit.CountedSignals(t, folder, testkit.CounterChild); !slices.Equal(got, of.child) {
					t.Errorf("the child got %q, want %q", got, of.child)
				}
			})
		}
	}
}

func TestCommandThatNeedsAShellIsNotRunWithoutOne(t *testing.T) {
	t.Parallel()
	for command, found := range map[string]string{
		"a && b": `the character '&'`, "a; b": `the character ';'`, "a | b": `the character '|'`, "a >b": `the character '>'`,
		`"a b" c`: `the character '"'`, "'a'": `the character '\''`, "$PWD/a": `the character '$'`, "`a`": "the character '`'",
		"~/a": `the character '~'`, "a *.tf": `the character '*'`, "a\nb": `the character '\n'`, `a\ b`: `the character '\\'`,
		"a # b": `the character '#'`, "! a": `the character '!'`, "{ a": `the character '{'`, "(a)": `the character '('`,
		"TF_LOG=debug a": `the assignment "TF_LOG=debug"`, "exec a": `"exec", a word of the shell`, "cd a": `"cd", a word of the shell`,
		" \t": "nothing",
	} {
		argv, err := keeper.StopProgram.Argv(command)
		if !errors.Is(err, keeper.ErrNeedsShell) || !strings.HasSuffix(err.Error(), ", found "+found) || argv != nil {
			t.Errorf("%q: %q, %v", command, argv, err)
		}
		if argv, err := keeper.StopGroup.Argv(command); err != nil || !slices.Equal(argv, []string{"sh", "-c", command}) {
			t.Errorf("%q: %q, %v", command, argv, err)
		}
	}
	want := []string{"/opt/a.sh", "-poll=5s", "b/c_d:e@f,g%h+i^j"}
	if got, err := keeper.StopProgram.Argv(" /opt/a.sh  -poll=5s\tb/c_d:e@f,g%h+i^j "); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
