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
	"syscall"
	"time"
)

// Standby makes a hot standby that follows the cluster and waits until it answers. The caller stops it.
func (c *Cluster) Standby() (*Cluster, error) {
	return start(c.bin, nil, func(standby *Cluster) *exec.Cmd {
		return standby.Command("pg_basebackup", "--pgdata="+standby.data, "--dbname="+c.URL, "--write-recovery-conf",
			"--checkpoint=fast", "--no-sync")
	})
}

// ShutDown ends the server in order: those who are connected are told and cut off, and what was written is
// on its standbys.
func (c *Cluster) ShutDown() { c.end(syscall.SIGINT) }

// Crash ends the server at once; it recovers when it is started again.
func (c *Cluster) Crash() { c.end(syscall.SIGQUIT) }

// Restart starts a server that was ended and waits until it answers.
func (c *Cluster) Restart() error { return c.serve() }

// Demote has a server that was ended be a hot standby, of nobody, when it is started again.
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

// Promote lets a standby take writes and waits until it does.
func (c *Cluster) Promote() error {
	db, err := sql.Open("postgres", c.URL)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var promoted bool
	if err := db.QueryRowContext(ctx, "SELECT pg_promote(true, $1)", int(startTimeout/time.Second)).Scan(&promoted); err != nil {
		return fmt.Errorf("promote the standby: %w", err)
	}
	if !promoted {
		return errors.New("promote the standby: it was not in time")
	}
	return nil
}
