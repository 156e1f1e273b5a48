package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// Added returns the migrations of a dialect that a repository has, by their files' names, in the order in which they
// came into the branch that is checked out: what a merge brought came with the merge, and what is not committed comes
// last. folder is the dialect's, from the root of the repository.
func Added(ctx context.Context, root, folder string) ([]string, error) {
	if shallow, err := git(ctx, root, "rev-parse", "--is-shallow-repository"); err != nil || shallow != "false\n" {
		return nil, errors.Join(err, errors.New("the history is cut off: fetch all of it, as by git fetch --unshallow"))
	}

	log, err := git(ctx, root, "log", "--first-parent", "--diff-merges=first-parent", "--reverse",
		"--diff-filter=A", "--no-renames", "--format=", "--name-only", "--", folder)
	if err != nil {
		return nil, err
	}
	present, err := os.ReadDir(path.Join(root, folder))
	if err != nil {
		return nil, err
	}

	isThere := map[string]bool{}
	var all []string
	for _, file := range present { // which are sorted
		isThere[file.Name()] = strings.HasSuffix(file.Name(), ".sql")
	}

	for line := range strings.Lines(log) {
		if name := path.Base(strings.TrimSpace(line)); isThere[name] && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, file := range present {
		if name := file.Name(); isThere[name] && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}

	return all, nil
}

// git runs git in a folder, whoever owns that.
func git(ctx context.Context, root string, args ...string) (string, error) {
	var failure bytes.Buffer
	//nolint:gosec // the arguments are those of this file
	c := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*", "-C", root}, args...)...)
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, failure.Bytes())
	}
	return string(out), nil
}

// addedLate are the migrations that came after later ones before the order was checked. Both were made within one day,
// and no release had the one without the other.
var addedLate = []string{
	"20261122171000_deployment_logs.sql",
	"20261122171001_deployment_logs.sql",
	"20261122171002_row_level_security.sql",
}

// Order returns what is wrong with the order in which migrations were added, which is that of Added: a database that
// has got a later one is never given an earlier.
func Order(added []string) (problems []Problem) {
	latest := ""
	for _, name := range added {
		if name < latest && !slices.Contains(addedLate, name) {
			problems = append(problems, Problem{
				File: name, Found: "it was added after " + latest, Why: "a database that has that one already refuses this one",
				Instead: "a version after that one: rename the file, " +
					"and write the checksums again by go run ./internal/data/store/migrate/cmd/migration hash",
			})
		}
		latest = max(latest, name)
	}
	return problems
}
