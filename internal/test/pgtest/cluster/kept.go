//go:build unix

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Keep starts the cluster of a folder, which it makes if there is none, and waits until it answers. The settings are
// as for Start. The caller ends it by ShutDown, so that it is there the next time.
func Keep(bin, dir string, settings ...string) (*Cluster, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a directory for the cluster: %w", err)
	}
	c, err := newCluster(bin, dir, settings)
	if err != nil {
		return nil, err
	}

	if _, err = os.Stat(filepath.Join(c.data, "PG_VERSION")); errors.Is(err, fs.ErrNotExist) {
		err = c.boot(initdb)
	} else if err == nil {
		err = c.move()
	}

	if err != nil {
		if c.server != nil {
			c.ShutDown()
		}
		return nil, err
	}
	return c, nil
}
