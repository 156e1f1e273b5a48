//go:build linux

package target

import "os/exec"

// RunAndStop runs a command and stops it, after a function that is called meanwhile.
func RunAndStop(command *exec.Cmd, meanwhile func()) error {
	p, err := run(command)
	if err != nil {
		return err
	}
	meanwhile()
	return p.stop()
}
