package main

import (
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionIsThatOfTheTree(t *testing.T) {
	t.Parallel()
	noted := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	for _, c := range []struct {
		archived, version, commit string
		info                      *debug.BuildInfo
		want                      string
	}{
		{archived, "v1.2.3", "", noted, "slipway v1.2.3, commit abc with changes, go"},
		{archived, "", "", noted, "slipway unversioned, commit abc with changes, go"},
		{archived, "", "", nil, "slipway unversioned, commit unknown, go"},
		{archived, "", "", &debug.BuildInfo{}, "slipway unversioned, commit unknown, go"},
		// A worktree of git, of which the go command notes nothing.
		{archived, "v1.2.3", "def", &debug.BuildInfo{}, "slipway v1.2.3, commit def, go"},
		// The repository around an archive is another one.
		{"def v1.0.0\n", "v9.9.9", "fed", noted, "slipway v1.0.0, commit def, go"},
		{"def \n", "v9.9.9", "fed", &debug.BuildInfo{}, "slipway unversioned, commit def, go"},
	} {
		if got := built(c.archived, c.version, c.commit, c.info).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, %q: %s, want %s", c.archived, c.version, got, c.want)
		}
	}
}

func TestArchiveOfGitHasItsCommit(t *testing.T) {
	t.Parallel()
	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", "../.."}, args...)...).Output()
		if err != nil {
			t.Skipf("this tree is no checkout of git: %v", err)
		}
		return strings.TrimSpace(string(out))
	}
	head := git("rev-parse", "HEAD")
	file := exec.CommandContext(t.Context(), "sh", "-c", "git -C ../.. archive HEAD cmd/slipway/archive.txt | tar -xO cmd/slipway/archive.txt")
	text, err := file.Output()
	if err != nil || !strings.HasPrefix(string(text), head) {
		t.Errorf("the archive has %q, %v, want %s", text, err, head)
	}
}
