package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The files of a keeper's folder. Whoever writes one replaces it whole.
const (
	// ordersFile has the orders of the runner, processFile the ids of the processes, endFile the End.
	ordersFile, processFile, endFile = "orders.json", "process.json", "end.json"
	// keeperLock is locked as long as the keeper lives, runnerLock as long as a runner attends to it.
	keeperLock, runnerLock = "keeper.lock", "runner.lock"
	// panicFile has what the keeper says where it fails.
	panicFile = "keeper.log"
)

const fileMode, folderMode = 0o600, 0o700

// folder is the path of a keeper's folder.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// save writes a file as JSON, so that a reader finds the earlier content or all of the new.
func (f folder) save(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	draft := f.path(name + ".new")
	if err := os.WriteFile(draft, text, fileMode); err != nil {
		return err
	}
	return os.Rename(draft, f.path(name))
}

// load reads a file of JSON, and reports whether it is there.
func (f folder) load(name string, into any) (bool, error) {
	text, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("decode %s: %w", f.path(name), err)
	}
	return true, nil
}

// lock opens a file or folder and locks it as flock(2) does; it returns nil where another has the lock.
func lock(path string, flags, how int) (*os.File, error) {
	file, err := os.OpenFile(path, flags, fileMode)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), how)
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// locked reports whether a process has the lock of a file or folder that is there.
func locked(path string) (bool, error) {
	file, err := lock(path, os.O_RDONLY, syscall.LOCK_SH|syscall.LOCK_NB)
	if err != nil {
		return false, err
	}
	if file == nil {
		return true, nil
	}
	return false, file.Close()
}
