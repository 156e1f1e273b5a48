package keeper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
)

// command are the arguments by which this program is a keeper; the path of the folder follows.
var command = []string{"runner", "keep"}

// Called returns the path of the folder where arguments call for a keeper. A program that starts keepers
// has to be one when it is called so.
func Called(args []string) (path string, ok bool) {
	if len(args) != len(command)+2 || !slices.Equal(args[1:len(args)-1], command) {
		return "", false
	}
	return args[len(args)-1], true
}

// Start starts a keeper for a program, in a folder of its own among those of a root; the program's
// environment is env. The name must be new there. about is kept for a runner that takes the program up.
func Start(root, name string, lease Lease, p Program, env []string, about any) (*Kept, error) {
	k, err := create(root, name, lease, about)
	if err != nil {
		return nil, err
	}
	if err := k.spawn(p, env); err != nil {
		return nil, errors.Join(err, k.Remove())
	}
	return k, nil
}

// aboutFile has what Start was told about the program.
const aboutFile = "about.json"

func create(root, name string, lease Lease, about any) (*Kept, error) {
	done, err := enterRoot(root)
	if err != nil {
		return nil, err
	}
	defer done()
	k := &Kept{folder: folder(filepath.Join(root, name)), orders: orders{Lease: lease}}
	if err := os.Mkdir(string(k.folder), folderMode); err != nil {
		return nil, err
	}
	if k.attended, err = lock(k.path(runnerLock), os.O_CREATE|os.O_RDWR, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	return k, errors.Join(k.save(ordersFile, k.orders), k.save(aboutFile, about))
}

// enterRoot makes sure that the root is there and keeps other runners from looking around in it.
func enterRoot(root string) (done func(), err error) {
	if err := os.MkdirAll(root, folderMode); err != nil {
		return nil, err
	}
	file, err := lock(root, os.O_RDONLY, syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}

// spawn starts the process of the keeper, which inherits the lock on its folder.
func (k *Kept) spawn(p Program, env []string) error {
	path, err := self()
	if err != nil {
		return err
	}
	input, err := json.Marshal(p)
	if err != nil {
		return err
	}
	alive, err := lock(k.path(keeperLock), os.O_CREATE|os.O_RDWR, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return err
	}
	defer func() { _ = alive.Close() }()
	failed, err := os.OpenFile(k.path(panicFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	defer func() { _ = failed.Close() }()
	cmd := exec.Command(path, append(slices.Clone(command), string(k.folder))...) //nolint:gosec // this program
	cmd.Args[0] = os.Args[0]
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = "/", env, bytes.NewReader(input), failed
	cmd.ExtraFiles = []*os.File{alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a keeper: %w", err)
	}
	go func() { _ = cmd.Wait() }() // how it ended is in its folder
	return nil
}
