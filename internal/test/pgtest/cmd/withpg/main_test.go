//go:build unix

package main_test

import (
	"bufio"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"slipway/internal/test/pgtest"
	"slipway/internal/test/pgtest/cluster"
)

// TestWithpg builds the program once and tries it.
func TestWithpg(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "withpg")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for name, test := range map[string]func(*testing.T, string){
		"command sees the cluster and gives its exit code": commandSeesTheCluster,
		"cluster that is named is used":                    namedClusterIsUsed,
		"signal goes to the command and the cluster goes":  signalGoesToTheCommand,
		"command that cannot run is told":                  commandThatCannotRun,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, program)
		})
	}
}

func commandSeesTheCluster(t *testing.T, program string) {
	needServer(t)
	cmd := withpg(t, program, "sh", "-c", `echo "$`+pgtest.Env+`"; exit 7`)
	out, err := cmd.Output()
	if !strings.HasPrefix(string(out), "postgres://") {
		t.Errorf("the command saw %q", out)
	}
	wantExit(t, cmd, err, 7)
}

func namedClusterIsUsed(t *testing.T, program string) {
	cmd := withpg(t, program, "sh", "-c", `echo "$`+pgtest.Env+`"`)
	cmd.Env = append(cmd.Env, pgtest.Env+"=postgres://elsewhere")
	if out, err := cmd.Output(); err != nil || string(out) != "postgres://elsewhere\n" {
		t.Errorf("the command saw %q, error %v", out, err)
	}
}

func signalGoesToTheCommand(t *testing.T, program string) {
	needServer(t)
	for name, s := range map[string]struct {
		signal syscall.Signal
		want   int
	}{"TERM": {syscall.SIGTERM, 128 + 15}, "INT": {syscall.SIGINT, 128 + 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := withpg(t, program, "sh", "-c", `echo "$`+pgtest.Env+`"; exec cat`)
			// The command reads until its input ends, which only the end of this test does.
			input, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer input.Close()
			output, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(output).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(s.signal); err != nil {
				t.Fatal(err)
			}
			wantExit(t, cmd, cmd.Wait(), s.want)
			db, err := sql.Open("postgres", strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if db.PingContext(t.Context()) == nil {
				t.Errorf("%s still answers", line)
			}
		})
	}
}

func commandThatCannotRun(t *testing.T, program string) {
	for name, c := range map[string]struct {
		command []string
		want    int
		says    string
	}{
		"none":    {nil, 2, "usage: withpg -- command"},
		"missing": {[]string{"no-such-program"}, 127, "no-such-program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := withpg(t, program, c.command...)
			cmd.Env = append(cmd.Env, pgtest.Env+"=postgres://elsewhere")
			_, err := cmd.Output()
			wantExit(t, cmd, err, c.want)
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || !strings.Contains(string(exit.Stderr), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
}

// withpg is the command line that runs another with the program, if no cluster is named.
func withpg(t *testing.T, program string, command ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"--"}, command...)...)
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, pgtest.Env+"=") {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	return cmd
}

func needServer(t *testing.T) {
	t.Helper()
	if _, err := cluster.Find(cluster.Packages); err != nil {
		t.Skip(err)
	}
}

func wantExit(t *testing.T, cmd *exec.Cmd, err error, want int) {
	t.Helper()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("exit code %d, want %d (%v)", got, want, err)
	}
}
