//go:build linux

package target

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"time"

	"slipway/bench/data"
	"slipway/bench/requests"
)

// startTimeout is how long a server may take until it serves.
const startTimeout = 30 * time.Second

// StartProgram starts the built program, with its default limits, and waits until it serves. The caller stops it.
func StartProgram(ctx context.Context, name, program, databaseURL string, w data.World, d Database) (*Server, error) {
	s := &Server{
		name: name, world: w, database: d, asked: func(k *requests.Kind) (*requests.Kind, bool) { return k, true },
	}
	err := s.startProgram(ctx, program, databaseURL)
	return s, err
}

// StartFloor starts the floor, which answers some requests without GraphQL, and waits until it serves. The caller stops
// it.
func StartFloor(ctx context.Context, program, databaseURL string, w data.World, d Database) (*Server, error) {
	s := &Server{name: "floor", world: w, database: d, asked: func(k *requests.Kind) (*requests.Kind, bool) {
		return k, slices.Contains([]string{"A", "B", "C", "CL", "D"}, k.Name)
	}}
	err := s.startProgram(ctx, program, databaseURL)
	return s, err
}

// startProgram starts a program that logs where it serves. What does not serve in time is stopped.
func (s *Server) startProgram(ctx context.Context, program, databaseURL string) (err error) {
	command := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--log-format", "json")
	command.Env = append(os.Environ(), "SLIPWAY_DATABASE="+databaseURL)
	return s.start(ctx, command, startTimeout, func(context.Context) (_ bool, err error) {
		s.host, err = readAddress(s.process.log.Name())
		return s.host != "", err
	})
}

// start starts a process and waits until it is ready. If it is not in time, it is stopped.
func (s *Server) start(
	ctx context.Context, command *exec.Cmd, timeout time.Duration, ready func(context.Context) (bool, error),
) (err error) {
	if s.process, err = run(command); err == nil {
		err = s.process.await(ctx, timeout, ready)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", s.name, err), s.Stop())
	}
	return nil
}

// readAddress returns the address that a log names, an empty one if it does not yet.
func readAddress(name string) (string, error) {
	log, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer log.Close()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			u, err := url.Parse(line.URL)
			if err != nil {
				return "", err
			}
			return u.Host, nil
		}
	}
	return "", nil // it is not written to its end yet
}
