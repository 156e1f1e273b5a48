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

// StartProgram starts so many processes of the built program, with its default limits, and waits until they serve. The caller
// stops them.
func StartProgram(ctx context.Context, name, program string, processes int, databaseURL string, w data.World, d Database) (*Server, error) {
	s := &Server{name: name, world: w, database: d, asked: func(k *requests.Kind) (*requests.Kind, bool) { return k, true }}
	for range processes {
		if err := s.startProgram(ctx, program, databaseURL); err != nil {
			return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), s.Stop())
		}
	}
	return s, nil
}

// FloorName is what the floor is called in the table.
const FloorName = "floor"

// StartFloor starts the floor, which answers some requests without GraphQL, and waits until it serves. The caller stops it.
func StartFloor(ctx context.Context, program, databaseURL string, w data.World, d Database) (*Server, error) {
	s := &Server{name: FloorName, world: w, database: d, asked: func(k *requests.Kind) (*requests.Kind, bool) {
		return k, slices.Contains([]string{"A", "B", "C", "CL", "D"}, k.Name)
	}}
	if err := s.startProgram(ctx, program, databaseURL); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), s.Stop())
	}
	return s, nil
}

func (s *Server) startProgram(ctx context.Context, program, databaseURL string) error {
	command := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--debug-listen", "127.0.0.1:0", "--log-format", "json")
	command.Env = append(os.Environ(), "SLIPWAY_DATABASE="+databaseURL)
	p, err := run(command)
	if err != nil {
		return err
	}
	s.processes = append(s.processes, p)
	var host, profiles string
	err = p.await(ctx, startTimeout, func(context.Context) (_ bool, err error) {
		host, profiles, err = readAddresses(p.log.Name())
		return host != "", err
	})
	s.hosts, s.profiles = append(s.hosts, host), append(s.profiles, profiles)
	return err
}

// readAddresses returns the addresses that a log names, empty ones where it does not yet.
func readAddresses(name string) (host, profiles string, err error) {
	log, err := os.Open(name)
	if err != nil {
		return "", "", err
	}
	defer log.Close()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue // not written to its end yet
		}
		u, err := url.Parse(line.URL)
		if err != nil {
			return "", "", err
		}
		switch line.Msg {
		case "serving":
			host = u.Host
		case "serving profiles":
			profiles = u.Host
		}
	}
	return host, profiles, nil
}
