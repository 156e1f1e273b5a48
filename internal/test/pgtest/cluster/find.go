//go:build unix

// Package cluster runs a throw-away PostgreSQL server.
package cluster

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// ErrNotFound is the error of Find if no PostgreSQL server is installed.
var ErrNotFound = errors.New("no PostgreSQL server is installed")

// Packages is the folder where Debian and similar systems install the servers of every version; it is not in PATH.
const Packages = "/usr/lib/postgresql"

// Find returns the directory of a server's programs: the one in PATH, else the newest version under
// packages, a directory of <version>/bin. The error is ErrNotFound if there is
// neither.
func Find(packages string) (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil && serves(filepath.Dir(initdb)) {
		// If PATH has links, the other programs are beside the targets of the links.
		if target, err := filepath.EvalSymlinks(initdb); err == nil {
			initdb = target
		}
		return filepath.Dir(initdb), nil
	}
	// The pattern is a constant but for a directory's name, which has none of its characters.
	found, _ := filepath.Glob(filepath.Join(packages, "*", "bin"))
	found = slices.DeleteFunc(found, func(dir string) bool { return !serves(dir) })
	if len(found) == 0 {
		return "", ErrNotFound
	}
	return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
}

// serves reports whether a directory has both programs that a cluster needs.
func serves(dir string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err != nil {
			return false
		}
	}
	return true
}

// version returns the major version in the name of a directory <version>/bin, 0 if it is not a number.
func version(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}
