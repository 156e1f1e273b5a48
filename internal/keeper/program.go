package keeper

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// processes are the ids of a keeper's process and of its program's process group, 0 before that is there,
// and the folder that the program runs in.
type processes struct {
	Keeper int    `json:"keeper"`
	Group  int    `json:"group"`
	Dir    string `json:"dir"`
}

// errStopped is why a program was not even started.
var errStopped = errors.New("it was stopped before it began")

// carryOut runs the program until it has ended with all that it has started and its last line is kept.
func (k *keeper) carryOut() error {
	dir, err := k.enter()
	if dir != nil {
		defer leave(dir)
	}
	if err != nil {
		return err
	}
	pipes, err := newPipes()
	if err != nil {
		return err
	}
	defer pipes.close()
	cmd := exec.Command("sh", "-c", k.Command) //nolint:gosec // the operator's own command
	cmd.Dir = k.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.stdin.r, pipes.stdout.w, pipes.stderr.w
	// The lock of the folder is the program's too, so that nothing else runs there as long as the program
	// lives, even where its keeper does not any more.
	cmd.ExtraFiles = []*os.File{dir}
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	group := cmd.Process.Pid
	if err := k.save(processFile, processes{os.Getpid(), group, k.Dir}); err != nil {
		// Nobody else could end it.
		_ = syscall.Kill(-group, syscall.SIGKILL)
		return errors.Join(err, cmd.Wait())
	}
	pipes.started()
	go pipes.feed(k.Input)
	var reading sync.WaitGroup
	reading.Go(func() { readLines(&pipes.stdout, func(line string) { k.output.line(line, false) }) })
	reading.Go(func() { readLines(&pipes.stderr, k.stderr) })
	err = k.await(cmd, group)
	pipes.ended()
	reading.Wait()
	return err
}

func (k *keeper) stderr(line string) {
	k.said.add(line)
	if k.Stderr {
		k.output.line(line, true)
	}
}

// await waits until the program has ended, by itself or because it is stopped, and all of its group with it.
func (k *keeper) await(cmd *exec.Cmd, group int) (err error) {
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err = <-exited:
		k.guard.ended()
	case <-k.guard.stop:
		_ = syscall.Kill(-group, syscall.SIGTERM)
		select {
		case err = <-exited:
		case <-k.guard.kill:
			_ = syscall.Kill(-group, syscall.SIGKILL)
			err = <-exited
		}
	}
	k.endGroup(group)
	return err
}

// endGroup asks the processes that are left of a group to end, waits until they have, and kills those that
// have not when they are to be dead.
func (k *keeper) endGroup(group int) {
	_ = syscall.Kill(-group, syscall.SIGTERM)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !gone(group) {
		select {
		case <-look.C:
		case <-k.guard.kill:
			killGroup(group)
			return
		}
	}
}

// gone reports whether no process of a group is left, whose leader has been waited for.
func gone(group int) bool {
	for {
		if id, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); id <= 0 || err != nil {
			return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
		}
	}
}

// dying is how long killed processes may take to be gone. Those that nobody takes leave of never are.
const dying = time.Second

// killGroup kills the processes of a group and waits until they are gone.
func killGroup(group int) {
	late := time.After(dying)
	for _ = syscall.Kill(-group, syscall.SIGKILL); !gone(group); _ = syscall.Kill(-group, syscall.SIGKILL) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-late:
			return
		}
	}
}

// enter opens and locks the folder where the program runs. Where a program of an earlier deployment still
// lives, that is waited for.
func (k *keeper) enter() (*os.File, error) {
	told := false
	for {
		dir, err := lock(k.Dir, os.O_RDONLY, syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			return nil, err
		}
		if dir != nil {
			return dir, k.guard.check()
		}
		if !told {
			told = true
			k.output.line("Waiting for the program of an earlier deployment, which still runs in the instance's folder.", false)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-k.guard.stop:
			return nil, fmt.Errorf("%w: the program of an earlier deployment still runs in its folder", errStopped)
		}
	}
}

// leave gives the lock up, also where something that the program has left behind has the folder open.
func leave(dir *os.File) {
	_ = syscall.Flock(int(dir.Fd()), syscall.LOCK_UN) // closing gives it up too, where nobody else has it
	_ = dir.Close()
}
