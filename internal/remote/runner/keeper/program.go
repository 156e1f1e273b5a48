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

// errStopped is the error of a program that must not be started any more.
var errStopped = errors.New("it was stopped before it started")

// runProgram runs the program, and returns when all processes of its group have ended and its last line is written.
func (k *keeper) runProgram() error {
	argv, err := k.Stop.Argv(k.Command)
	if err != nil {
		return err
	}

	dir, err := k.lockDir()
	if dir != nil {
		defer unlockDir(dir)
	}
	if err != nil {
		return err
	}

	pipes, err := newPipes()
	if err != nil {
		return err
	}
	defer pipes.close()

	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // the operator's own command
	cmd.Dir = k.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.stdin.r, pipes.stdout.w, pipes.stderr.w
	// The program inherits the lock of the folder: nothing else runs there as long as the program lives, even if its
	// keeper does not live any more.
	cmd.ExtraFiles = []*os.File{dir}
	cmd.SysProcAttr = sysProcAttr()
	if err := cmd.Start(); err != nil {
		return err
	}

	group := cmd.Process.Pid
	k.guardian.startedProgram(group)
	if err := k.save(processFile, processes{os.Getpid(), group, k.Dir}); err != nil {
		// Without the id of the group no runner could end it.
		_ = syscall.Kill(-group, syscall.SIGKILL)
		return errors.Join(err, cmd.Wait())
	}

	reading := k.transfer(pipes)
	err = k.wait(cmd, group)
	k.guardian.endedProgram()
	pipes.drain()
	reading.Wait()
	return err
}

// transfer writes the input to the program that has the other ends of the pipes, and reads what it prints until the
// returned group is done.
func (k *keeper) transfer(pipes *pipes) *sync.WaitGroup {
	pipes.closeChildEnds()
	go pipes.writeInput(k.Input)

	var reading sync.WaitGroup
	reading.Go(func() { readLines(&pipes.stdout, k.output.write) })
	reading.Go(func() { readLines(&pipes.stderr, k.stderr) })
	return &reading
}

// stderr handles a line of standard error.
func (k *keeper) stderr(line Record) {
	k.lastLines.add(line.Line)
	line.Stderr = true
	k.output.write(line)
}

// wait waits until the program and all of its group have ended, by themselves or because they are stopped. No process
// gets SIGTERM twice: to Terraform, for one, the second is an order to leave at once and to lose what it has made.
func (k *keeper) wait(cmd *exec.Cmd, group int) (err error) {
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()

	select {
	case err = <-exited:
		k.watchdog.programExited()
		k.terminate(cmd.Process)
	case <-k.watchdog.terminate:
		k.terminate(cmd.Process)
		select {
		case err = <-exited:
		case <-k.watchdog.kill:
			_ = syscall.Kill(-group, syscall.SIGKILL)
			err = <-exited
		}
	}

	k.endGroup(group)
	return err
}

// terminate sends SIGTERM to those whom it is meant for. It is called once.
func (k *keeper) terminate(program *os.Process) {
	if k.Stop == StopProgram {
		_ = program.Signal(syscall.SIGTERM) // an error means that it has ended
		return
	}
	_ = syscall.Kill(-program.Pid, syscall.SIGTERM)
}

// endGroup ends what the program has left in its group. If the group got SIGTERM, it may take until the kill.
func (k *keeper) endGroup(group int) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !groupGone(group) {
		if k.Stop == StopProgram {
			killGroup(group)
			return
		}
		select {
		case <-ticker.C:
		case <-k.watchdog.kill:
			killGroup(group)
			return
		}
	}
}

// lockDir opens and locks the folder where the program runs. If the program of an earlier deployment still runs
// there, it waits for its end.
func (k *keeper) lockDir() (*os.File, error) {
	announced := false
	for {
		dir, err := lock(k.Dir, os.O_RDONLY, syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			return nil, err
		}
		if dir != nil {
			return dir, k.watchdog.checkStart()
		}

		if !announced {
			announced = true
			k.output.write(Record{
				Line: "Waiting for the program of an earlier deployment, which still runs in the instance's folder.",
			})
		}

		select {
		case <-time.After(200 * time.Millisecond):
		case <-k.watchdog.terminate:
			return nil, fmt.Errorf("%w: the program of an earlier deployment still runs in its folder", errStopped)
		}
	}
}

// unlockDir unlocks the folder, even if a process that the program has left behind still has it open.
func unlockDir(dir *os.File) {
	_ = syscall.Flock(int(dir.Fd()), syscall.LOCK_UN) // if this fails, closing unlocks it unless others have it open
	_ = dir.Close()
}
