//go:build unix

// Withpg runs a command with a throw-away PostgreSQL for its tests:
//
//	withpg -- go test ./...
//
// The command finds the URL of the cluster in SLIPWAY_TEST_POSTGRES. If that is set already, Withpg only runs the
// command. If no server is installed it warns and runs the command without one, or fails if CI is "true". Withpg passes
// signals on to the command and ends with its exit code.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"slipway/internal/test/pgtest"
	"slipway/internal/test/pgtest/cluster"
)

func main() {
	command := os.Args[1:]
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		fmt.Fprintln(os.Stderr, "usage: withpg -- command [argument ...]")
		os.Exit(2)
	}
	// From here on no signal ends this program before the cluster is removed. A signal that comes while the cluster
	// starts is passed on to the command later.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	code, err := withCluster(command, signals)
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
	}
	os.Exit(code)
}

// withCluster runs the command beside a cluster and returns the code to exit with.
func withCluster(command []string, signals <-chan os.Signal) (code int, err error) {
	if os.Getenv(pgtest.Env) != "" {
		return run(command, os.Environ(), signals)
	}
	bin, err := cluster.Find(cluster.Packages)
	if errors.Is(err, cluster.ErrNotFound) {
		if os.Getenv("CI") == "true" {
			return 1, fmt.Errorf("PostgreSQL not found: %w in PATH or %s, and CI=true needs one", err, cluster.Packages)
		}
		fmt.Fprintf(
			os.Stderr, "\n!!! PostgreSQL not found: nothing in PATH or %s; tests run on SQLite only !!!\n\n", cluster.Packages,
		)
		return run(command, os.Environ(), signals)
	}

	if err != nil {
		return 1, err
	}
	c, err := cluster.StartInMemory(bin)
	if err != nil {
		return 1, err
	}
	defer func() {
		if failed := c.Stop(); failed != nil {
			code, err = max(code, 1), errors.Join(err, failed)
		}
	}()

	return run(command, append(os.Environ(), pgtest.Env+"="+c.URL), signals)
}

// run runs the command and returns its exit code, or 128 and the signal that ended it.
func run(command, env []string, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 127, err
	}

	go func() {
		for s := range signals {
			// What fails here is only that the command has ended already.
			_ = cmd.Process.Signal(s)
		}
	}()

	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		return 1, err
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}
