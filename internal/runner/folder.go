package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// leave gives the lock up, also where something that the program has left behind has the folder open.
func leave(dir *os.File) {
	_ = syscall.Flock(int(dir.Fd()), syscall.LOCK_UN) // closing gives it up too, where nobody else has it
	_ = dir.Close()
}

// folder opens the folder of the instance, and makes it where it is not there. It is locked: where a
// program of an earlier deployment still lives, that is waited for.
func (j *job) folder(ctx context.Context, reports *reporter) (*os.File, error) {
	name := j.Deployment.ModuleInstanceID
	if name == "." || name != filepath.Base(name) || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("the id of the instance is not the name of a folder: %q", name)
	}
	path := filepath.Join(j.WorkDir, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	told := false
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), dir.Close())
		}
		if !told {
			told = true
			j.log.Warn("waiting for another program that runs in the folder", "folder", path)
			reports.take(message("Waiting for the program of an earlier deployment, which still runs in the instance's folder.", time.Now()))
		}
		if !pause(ctx, 200*time.Millisecond) {
			return nil, errors.Join(context.Cause(ctx), dir.Close())
		}
	}
}
