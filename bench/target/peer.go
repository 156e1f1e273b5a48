//go:build linux

package target

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/bench/data"
	"slipway/bench/requests"
)

// Peer is another GraphQL server over the same database.
type Peer struct {
	Name string
	// Folder is where its command runs.
	Folder  string
	Command []string
	// Requests is the folder of its own documents, empty if it has none, and Setup the SQL that it needs.
	Requests, Setup string
}

// Workers are the numbers of processes that a peer is measured with.
var Workers = []int{1, 2}

// AllPeers stands for the names of all peers.
const AllPeers = "all"

// Peers returns the peers that have the names, which have commas between them. What they need is in the folder.
func Peers(folder, names string) (chosen []Peer, err error) {
	serve := func(name string) []string { return []string{"node", "--env-file=production.env", "serve.mjs", name} }
	all := []Peer{
		{Name: "mercurius", Folder: folder, Command: serve("mercurius")},
		{
			Name: "postgraphile", Folder: folder, Command: serve("postgraphile"),
			Requests: "requests/postgraphile", Setup: "postgraphile.sql",
		},
	}

	if names == AllPeers {
		return all, nil
	}

	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(p Peer) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no peer %q", name)
		}
		chosen = append(chosen, all[i])
	}

	return chosen, nil
}

// SetupSQL returns the statements that the owner of the tables runs before the peer starts, none if it needs none.
func (p Peer) SetupSQL() (string, error) {
	if p.Setup == "" {
		return "", nil
	}
	text, err := os.ReadFile(filepath.Join(p.Folder, p.Setup))
	return string(text), err
}

// peerTimeout is how long a peer may take until it serves: PostGraphile reads the database's schema first.
const peerTimeout = 120 * time.Second

// StartPeer starts a peer with so many workers and waits until it serves. The caller stops it.
func StartPeer(
	ctx context.Context, p Peer, workers int, databaseURL string, w data.World, d Database,
) (*Server, error) {
	name := p.Name + ", 1 worker"
	if workers != 1 {
		name = fmt.Sprintf("%s, %d workers", p.Name, workers)
	}
	s := &Server{
		name: name, world: w, database: d, asked: func(k *requests.Kind) (*requests.Kind, bool) { return k, !k.REST() },
	}
	if p.Requests != "" {
		own, err := requests.Documents(os.DirFS(filepath.Join(p.Folder, p.Requests)))
		if err != nil {
			return nil, fmt.Errorf("the documents of %s: %w", p.Name, err)
		}
		s.asked = own.Of
	}
	err := s.startPeer(ctx, p, workers, databaseURL)
	return s, err
}

func (s *Server) startPeer(ctx context.Context, p Peer, workers int, databaseURL string) (err error) {
	if s.host, err = freeAddress(ctx); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(s.host)
	if err != nil {
		return err
	}
	command := exec.Command(p.Command[0], p.Command[1:]...)
	command.Dir = p.Folder
	command.Env = append(os.Environ(), "DATABASE_URL="+databaseURL, "PORT="+port, "WORKERS="+strconv.Itoa(workers))
	return s.start(ctx, command, peerTimeout, func(ctx context.Context) (bool, error) { return answers(ctx, s.host) })
}

// freeAddress returns an address of this machine where nobody listens.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// answers reports whether a server answers the simplest request.
func answers(ctx context.Context, host string) (bool, error) {
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, "http://"+host+"/graphql", strings.NewReader(`{"query":"{ __typename }"}`),
	)
	if err != nil {
		return false, err
	}
	request.Close = true
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+data.Token(0, 0).Reveal())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, nil //nolint:nilerr // it does not listen yet
	}
	return answer.StatusCode == http.StatusOK, answer.Body.Close()
}
