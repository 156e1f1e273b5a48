//go:build unix

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Standby makes a hot standby and waits until it follows the cluster. The caller stops it.
func (c *Cluster) Standby() (*Cluster, error) {
	standby, err := start(c.bin, disk, nil, func(standby *Cluster) *exec.Cmd {
		return standby.Command("pg_basebackup", "--pgdata="+standby.data, "--dbname="+c.URL, "--write-recovery-conf",
			"--checkpoint=fast", "--no-sync")
	})
	if err != nil {
		return nil, err
	}
	if err := standby.await("SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')"); err != nil {
		return nil, errors.Join(err, standby.Stop())
	}
	return standby, nil
}

// ShutDown ends the server in an orderly way: it tells its clients and disconnects them, and the standbys that follow
// it have received all that was written.
func (c *Cluster) ShutDown() { c.end(syscall.SIGINT) }

// Crash ends the server at once; it recovers when it is started again.
func (c *Cluster) Crash() { c.end(syscall.SIGQUIT) }

// KillServer ends the server's first process by SIGKILL, and waits until the others have noticed and left too.
func (c *Cluster) KillServer() error {
	others, err := c.backends()
	if err != nil {
		return err
	}
	if err := c.Kill(); err != nil {
		return err
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for late := time.After(stopTimeout); len(others) > 0; {
		others = slices.DeleteFunc(others, func(pid int) bool { return syscall.Kill(pid, 0) != nil })
		select {
		case <-tick.C:
		case <-late:
			return fmt.Errorf("the processes %v outlive their server", others)
		}
	}
	return nil
}

// Freeze suspends all processes of the server until thaw is called.
func (c *Cluster) Freeze() (thaw func() error, err error) {
	if err := c.server.Process.Signal(syscall.SIGSTOP); err != nil { // first, so that it makes no more
		return nil, err
	}
	pids, err := c.backends()
	if err != nil {
		return nil, errors.Join(err, c.server.Process.Signal(syscall.SIGCONT))
	}
	pids = append(pids, c.server.Process.Pid)
	all := func(signal syscall.Signal) (err error) {
		for _, pid := range pids {
			if failed := syscall.Kill(pid, signal); failed != nil && !errors.Is(failed, syscall.ESRCH) {
				err = errors.Join(err, failed)
			}
		}
		return err
	}
	return func() error { return all(syscall.SIGCONT) }, all(syscall.SIGSTOP)
}

// backends returns the ids of the processes that the server has started.
func (c *Cluster) backends() (pids []int, err error) {
	pid := c.server.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, fmt.Errorf("list the server's processes: %w", err)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("list the server's processes: %w", err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// Restart starts a server that was ended and waits until it answers.
func (c *Cluster) Restart() error { return c.serve() }

// Demote makes a server that has ended a hot standby, without a primary, for when it is started again.
func (c *Cluster) Demote() error {
	file := filepath.Join(c.data, "standby.signal")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return fmt.Errorf("make the server a standby: %w", err)
	}
	if c.owner == nil {
		return nil
	}
	return os.Chown(file, int(c.owner.Uid), int(c.owner.Gid))
}

// Promote makes a standby accept writes and waits until it does.
func (c *Cluster) Promote() error {
	db, err := sql.Open("postgres", c.URL)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var promoted bool
	if err := db.QueryRowContext(ctx, "SELECT pg_promote(true, $1)", int(startTimeout/time.Second)).
		Scan(&promoted); err != nil {
		return fmt.Errorf("promote the standby: %w", err)
	}
	if !promoted {
		return errors.New("promote the standby: it was not in time")
	}
	return nil
}
