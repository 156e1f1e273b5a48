//go:build unix

package cluster

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Standby starts a cluster that follows c, from the programs in bin, and waits until it answers. The caller
// stops it.
func (c *Cluster) Standby(bin string) (*Cluster, error) {
	dir, err := os.MkdirTemp("/tmp", "slipway-pg-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the standby: %w", err)
	}
	s := &Cluster{dir: dir, owner: c.owner, exited: make(chan struct{})}
	if err := s.follow(bin, c.URL); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (c *Cluster) follow(bin, primary string) error {
	if c.owner != nil {
		if err := os.Chown(c.dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
			return fmt.Errorf("give the standby's directory to its user: %w", err)
		}
	}
	data := filepath.Join(c.dir, "data")
	// In PATH there may be links to the server alone.
	server, err := filepath.EvalSymlinks(filepath.Join(bin, "postgres"))
	if err != nil {
		return err
	}
	backup := c.command(filepath.Join(filepath.Dir(server), "pg_basebackup"), "--dbname="+primary, "--pgdata="+data, "--write-recovery-conf",
		"--checkpoint=fast", "--no-sync")
	if output, err := backup.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w\n%s", err, output)
	}
	return c.listen(bin, data)
}

// Promote lets a standby take writes, and waits until it does.
func (c *Cluster) Promote() error {
	db, err := sql.Open("postgres", c.URL)
	if err != nil {
		return err
	}
	defer db.Close()
	var promoted bool
	if err := db.QueryRow("SELECT pg_promote()").Scan(&promoted); err != nil || !promoted {
		return fmt.Errorf("promote the standby: %t, %w", promoted, err)
	}
	return nil
}
