package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version and commit are set by the linker.
var version, commit string

// archived has the commit and the version of the tree that the program was built from, if that is an archive of
// git's, which writes them in the place of what stands there: around such a tree there may be another repository.
//
//go:embed archive.txt
var archived string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, commit and Go version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), thisBuild())
			return err
		},
	}
}

// build is what the program was built from.
type build struct{ version, commit, goVersion string }

// built returns what the program was built from: by its archive, or else by the linker, or else by the go command,
// whose info may be nil.
func built(archived, version, commit string, info *debug.BuildInfo) build {
	if !strings.HasPrefix(archived, "$Format") {
		commit, version, _ = strings.Cut(strings.TrimSpace(archived), " ")
	}
	return build{cmp.Or(version, "unversioned"), cmp.Or(commit, commitOf(info), "unknown"), runtime.Version()}
}

// thisBuild returns what this program was built from.
func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return built(archived, version, commit, info)
}

// String returns the line that the command version prints.
func (b build) String() string {
	return fmt.Sprintf("slipway %s, commit %s, %s", b.version, b.commit, b.goVersion)
}

// commitOf returns the commit that the go command noted, "" for none.
func commitOf(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	return revision + changed
}
