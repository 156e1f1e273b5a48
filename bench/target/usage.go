//go:build linux

package target

import (
	"errors"
	"time"
)

// usage is the time of a processor from one moment on.
type usage struct {
	cpu   func() (time.Duration, error)
	begin time.Duration
	err   error
}

func measured(cpu func() (time.Duration, error)) *usage {
	begin, err := cpu()
	return &usage{cpu, begin, err}
}

// each returns the time since then for each of so many requests.
func (u *usage) each(requests int) (time.Duration, error) {
	end, err := u.cpu()
	return (end - u.begin) / time.Duration(max(requests, 1)), errors.Join(u.err, err)
}
