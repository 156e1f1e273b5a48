// Package process reads what the kernel knows of processes: the time of the processor that they have taken, and their
// memory.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of the kernel's times.
const tick = time.Second / 100

// CPU returns the time of the processor that a process has taken, with all processes that it has started, those that
// have ended among them.
func CPU(pid int) (time.Duration, error) {
	tree, err := Tree(pid)
	if err != nil {
		return 0, err
	}

	var ticks int
	for _, one := range tree {
		fields, err := stat(one)
		if one != pid && hasEnded(err) {
			continue // its times are its parent's now
		}
		if err != nil {
			return 0, err
		}

		// The process's own times, user and system, and those of its children that have ended.
		for _, field := range fields[11:15] {
			n, err := strconv.Atoi(field)
			if err != nil {
				return 0, fmt.Errorf("the times of process %d: %w", one, err)
			}
			ticks += n
		}
	}

	return time.Duration(ticks) * tick, nil
}

// hasEnded reports whether a file of a process cannot be read because it has ended.
func hasEnded(err error) bool { return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// Tree returns a process and all that it has started.
func Tree(pid int) ([]int, error) {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		// Every thread of a process has children of its own.
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		if err != nil {
			return nil, err
		}

		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err != nil && i == 0 {
				return nil, fmt.Errorf("list the children of process %d: %w", pid, err)
			}
			for _, child := range strings.Fields(string(text)) {
				n, err := strconv.Atoi(child)
				if err != nil {
					return nil, fmt.Errorf("list the children of process %d: %w", pid, err)
				}
				all = append(all, n)
			}
		}
	}

	return all, nil
}

// stat returns the fields of a process after its name.
func stat(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const enough = 20
	if len(fields) < enough {
		return nil, fmt.Errorf("/proc/%d/stat is %q", pid, text)
	}
	return fields, nil
}

// Parent returns the process that has started another.
func Parent(pid int) (int, error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(fields[1])
}

// PeakMemory returns the most memory in bytes that a process and all that it has started had since ResetPeak.
func PeakMemory(pid int) (int, error) {
	tree, err := Tree(pid)
	if err != nil {
		return 0, err
	}

	total := 0
	for _, one := range tree {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", one))
		if one != pid && hasEnded(err) {
			continue
		}
		if err != nil {
			return 0, err
		}

		_, after, _ := strings.Cut(string(text), "VmHWM:")
		kibibytes, err := strconv.Atoi(strings.Fields(after + " 0")[0])
		if err != nil {
			return 0, fmt.Errorf("the memory of process %d: %w", one, err)
		}

		total += kibibytes << 10
	}

	return total, nil
}

// ResetPeak lets the peak of the memory of a process, and of all that it has started, begin at what they have now.
func ResetPeak(pid int) error {
	tree, err := Tree(pid)
	if err != nil {
		return err
	}
	const peak = "5"
	for _, one := range tree {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", one), []byte(peak), 0); err != nil && one == pid {
			return fmt.Errorf("reset the peak of the memory: %w", err)
		}
	}
	return nil
}
