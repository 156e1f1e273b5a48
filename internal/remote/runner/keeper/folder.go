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

// The files of a keeper's folder. Those of JSON are replaced as a whole. Their names and contents are what keepers and
// runners of different versions have in common.
const (
	// ordersFile is written when the folder is complete, with the id of the lease. Runners of versions without a socket
	// look for it and find a text if they want a lease, and so leave the program alone.
	ordersFile = "orders.json"
	// socketFile is the socket on which the keeper is reached.
	socketFile = "keeper.sock"
	// processFile has the ids of the processes.
	processFile = "process.json"
	// endFile has what the keeper knew last, with the End.
	endFile = "end.json"
	// infoFile has what Start was told about the program, and noteFile the runner's latest note.
	infoFile, noteFile = "about.json", "runner.json"
	// keeperLockFile is locked as long as the keeper lives.
	keeperLockFile = "keeper.lock"
	// runnerLockFile is locked as long as a runner has a Handle.
	runnerLockFile = "runner.lock"
	// panicFile has the keeper's standard error.
	panicFile = "keeper.log"
)

const fileMode, folderMode = 0o600, 0o700

// folder is the path of a keeper's folder.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// save writes a file as JSON. A reader finds the earlier content or all of the new.
func (f folder) save(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	temporary := f.path(name + ".new")
	if err := os.WriteFile(temporary, text, fileMode); err != nil {
		return err
	}
	return os.Rename(temporary, f.path(name))
}

// load reads a file of JSON, and reports whether it exists.
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

// lock opens a file or folder and locks it with flock(2). It returns nil if another process has the lock.
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

// isLocked reports whether a process has the lock of an existing file or folder.
func isLocked(path string) (bool, error) {
	file, err := lock(path, os.O_RDONLY, syscall.LOCK_SH|syscall.LOCK_NB)
	if err != nil {
		return false, err
	}
	if file == nil {
		return true, nil
	}
	return false, file.Close()
}
