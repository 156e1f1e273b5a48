package keeper

import (
	"errors"
	"syscall"
	"time"
)

// processes has the ids of a keeper's process and of the program's process group, which is 0 before the program is
// started, and the folder that the program runs in. A keeper leads a session, which the group is in.
type processes struct {
	Keeper int    `json:"keeper,omitempty"`
	Group  int    `json:"group,omitempty"`
	Dir    string `json:"dir,omitempty"`
}

// errAlive is the error of a program that was killed and still runs: it is another user's, or waits for a device.
var errAlive = errors.New("the program was killed and still runs")

// kill kills what is left of the program, and nobody else: the id of a group whose processes have all ended may have
// been given to others. It returns errAlive if something is left all the same.
func (p *processes) kill() error {
	if p.Group == 0 {
		return nil
	}
	alive, err := p.live()
	if err != nil || !alive {
		return err
	}
	killGroup(p.Group)
	if alive, err = p.live(); alive {
		return errAlive
	}
	return err
}

// groupGone reports whether no process is left of a group, and reaps those that have ended.
func groupGone(group int) bool {
	for {
		if id, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); id <= 0 || err != nil {
			return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
		}
	}
}

// killTimeout is how long killGroup waits: a process that its parent does not reap is never gone.
const killTimeout = time.Second

// killGroup kills the processes of a group and waits until they are gone.
func killGroup(group int) {
	timeout := time.After(killTimeout)
	for _ = syscall.Kill(-group, syscall.SIGKILL); !groupGone(group); _ = syscall.Kill(-group, syscall.SIGKILL) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-timeout:
			return
		}
	}
}
