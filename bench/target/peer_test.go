//go:build linux

package target_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slipway/bench/data"
	"slipway/bench/requests"
	"slipway/bench/target"
)

const peersFolder = "../peers"

func TestPeersAreChosenByName(t *testing.T) {
	t.Parallel()
	chosen, err := target.Peers(peersFolder, "postgraphile,mercurius")
	if err != nil || len(chosen) != 2 || chosen[0].Name != "postgraphile" || chosen[1].Name != "mercurius" {
		t.Errorf("they are %+v, error %v", chosen, err)
	}
	if _, err := target.Peers(peersFolder, "mercurius,nobody"); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("error %v, want one of nobody", err)
	}
}

func TestPeersCanBeAskedEverythingOfGraphQL(t *testing.T) {
	t.Parallel()
	all, err := target.Peers(peersFolder, target.AllPeers)
	if err != nil || len(all) == 0 {
		t.Fatalf("they are %+v, error %v", all, err)
	}
	for _, p := range all {
		if sql, err := p.SetupSQL(); err != nil || sql == "" != (p.Setup == "") {
			t.Errorf("the setup of %s is %q, error %v", p.Name, sql, err)
		}
		if p.Requests == "" {
			continue
		}
		own, err := requests.Documents(os.DirFS(filepath.Join(peersFolder, p.Requests)))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range requests.All() {
			if _, ok := own.Of(kind); ok == kind.REST() {
				t.Errorf("%s can be asked %s: %t", p.Name, kind.Name, ok)
			}
		}
	}
}

func TestPeerThatEndsTellsWhy(t *testing.T) {
	t.Parallel()
	p := target.Peer{Name: "broken", Command: []string{"sh", "-c", "echo no such module; exit 1"}}
	_, err := target.StartPeer(t.Context(), p, 2, "postgres://nowhere", data.World{}, nil)
	if err == nil || !strings.Contains(err.Error(), "broken, 2 workers: it has ended:\nno such module") {
		t.Errorf("error %v", err)
	}
}

func TestNothingIsLeftOfAGroup(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"whose first process has ended": "sleep 600 & echo >&3",
		"that does not heed":            "sleep 600 & trap 'exit 0' TERM; echo >&3; wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			command := exec.CommandContext(t.Context(), "sh", "-c", script)
			command.ExtraFiles = []*os.File{w}
			err = target.RunAndStop(command, func() {
				if _, err := r.Read(make([]byte, 1)); err != nil {
					t.Error(err)
				}
			})
			if err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			// Whoever is left of the group has the pipe open.
			if _, err := io.ReadAll(r); err != nil {
				t.Error(err)
			}
		})
	}
}
