package main_test

import (
	"bufio"
	"context"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	main "slipway/cmd/slipway"
	"slipway/internal/test/testkit"
)

// What the test's own program does instead of testing, by the variable asChild.
const (
	asChild = "SLIPWAY_TEST_CHILD"
	// isSlipway is to be slipway.
	isSlipway = "slipway"
	// isNewcomers is to be slipway with the settings of the environment, as in a shell.
	isNewcomers = "newcomer's"
	// holdsOpen is to read the database file of its argument and keep it open until its input ends.
	holdsOpen = "holder"
)

// TestMain is the program also if a runner has started it as a keeper.
func TestMain(m *testing.M) {
	if code, ok := main.Keep(); ok {
		os.Exit(code)
	}
	switch os.Getenv(asChild) {
	case isSlipway:
		ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		os.Exit(main.Run(ctx, os.Args[1:], os.Stdout, os.Stderr, variables{}.lookup))
	case isNewcomers:
		ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		os.Exit(main.Run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv))
	case holdsOpen:
		os.Exit(hold(os.Args[1]))
	}
	os.Exit(m.Run())
}

func hold(path string) int {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return 1
	}
	tables := 0
	if err := db.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return 1
	}
	_, _ = os.Stdout.WriteString("open\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = db.Close()
	return 0
}

// child is a process of its own, started by a shell's script in which "$@" is the command.
func child(t *testing.T, what, script string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh", self}, args...)...)
	c.Env = append(os.Environ(), asChild+"="+what)
	return c
}

// killed serves a database in a process of its own, lets it be used, and ends it by SIGKILL.
func killed(t *testing.T, database string, use func()) {
	t.Helper()
	c := child(t, isSlipway, `exec "$@"`, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "")
	s := testkit.Serve(t, c)
	use()
	if !s.Kill() {
		t.Fatal("serve ended by itself")
	}
}

// held keeps a database open in a process that is not slipway, until release is called.
func held(t *testing.T, path string) (release func()) {
	t.Helper()
	c := child(t, holdsOpen, `exec "$@"`, path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return func() {
		_ = in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
}
