package manifest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/remote/cli/manifest"
)

// repository runs commands of git in a new folder, and returns it.
func repository(t *testing.T, commands ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, command := range commands {
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.com"}, strings.Fields(command)...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", command, err, out)
		}
	}
	return folder
}

func TestTheSourceOfGit(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"https://git.example.com/acme/queue":             "https://git.example.com/acme/queue",
		"https://me:hush@git.example.com/acme/queue.git": "https://git.example.com/acme/queue.git",
		"https://hush@git.example.com/acme/queue":        "https://git.example.com/acme/queue",
		"ssh://git@git.example.com/acme/queue":           "ssh://git@git.example.com/acme/queue",
		"git@git.example.com:acme/queue.git":             "git@git.example.com:acme/queue.git",
		"ssh://me:hush@git.example.com:22/acme/queue":    "ssh://me@git.example.com:22/acme/queue",
		"me:hush@git.example.com:acme/queue.git":         "me@git.example.com:acme/queue.git",
		"https://me:hu%sh@git.example.com/acme/queue":    "https://git.example.com/acme/queue",
		"https://git.example.com/acme/queue?token=hush":  "https://git.example.com/acme/queue",
		"https://git.example.com:8443/acme/queue@2":      "https://git.example.com:8443/acme/queue@2",
		"https://git.example.com":                        "https://git.example.com",
		"https://me:hush@git.example.com":                "https://git.example.com",
		"/srv/git/queue@2":                               "/srv/git/queue@2",
	} {
		folder := repository(t, "init -q", "commit -q --allow-empty -m first", "remote add origin "+origin)
		below := filepath.Join(folder, "module")
		if err := os.Mkdir(below, 0o700); err != nil {
			t.Fatal(err)
		}
		source, err := manifest.GitSource(t.Context(), below, nil)
		if err != nil {
			t.Errorf("%s: %v", origin, err)
			continue
		}
		if *source.URL != want || !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(*source.Ref) {
			t.Errorf("%s: the source is %s at %s", origin, *source.URL, *source.Ref)
		}
	}
}

func TestWithoutASourceGitIsAskedFor(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]string{
		t.TempDir():              "there is no commit of git to take it from; commit the module, or add source",
		repository(t, "init -q"): "there is no commit of git to take it from",
		repository(t, "init -q", "commit -q --allow-empty -m first"): `git has no remote "origin" to take it from; add the remote, or add source`,
		filepath.Join(t.TempDir(), "away"):                           "there is no commit of git to take it from",
	} {
		if source, err := manifest.GitSource(t.Context(), folder, nil); err == nil || !strings.Contains(err.Error(), strings.Replace(want, "remote, or add", "remote, or", 1)) {
			t.Errorf("%v, %v, want %s", source, err, want)
		}
	}
}

func TestRemoteWithoutAURLIsNoSource(t *testing.T) {
	t.Parallel()
	folder := repository(t, "init -q", "commit -q --allow-empty -m first")
	if out, err := exec.CommandContext(t.Context(), "git", "-C", folder, "remote", "add", "origin", "").CombinedOutput(); err != nil {
		t.Skipf("this git makes none: %s", out)
	}
	if source, err := manifest.GitSource(t.Context(), folder, nil); err == nil {
		t.Errorf("the source is %q", *source.URL)
	}
}

func TestChangesThatAreInNoCommit(t *testing.T) {
	t.Parallel()
	folder := repository(t, "init -q", "commit -q --allow-empty -m first")
	if changed, err := manifest.IsChanged(t.Context(), folder); changed || err != nil {
		t.Errorf("without any: %t, %v", changed, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := manifest.IsChanged(t.Context(), folder); !changed || err != nil {
		t.Errorf("with a new file: %t, %v", changed, err)
	}
	if _, err := manifest.IsChanged(t.Context(), filepath.Join(folder, "away")); err == nil {
		t.Error("without a folder there is no error")
	}
}

// The folder is that of the manifest in its repository, or one below that.
func TestTheSourceFromGitHasTheFolderOfTheManifest(t *testing.T) {
	t.Parallel()
	root := repository(t, "init -q", "commit -q --allow-empty -m first", "remote add origin https://git.example.com/acme/queue")
	folder := filepath.Join(root, "modules", "queue")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ folder, below, want string }{
		{root, "", ""}, {root, "modules/queue", "modules/queue"}, {root, "./modules//queue/", "modules/queue"}, {root, ".", ""},
		{folder, "", "modules/queue"}, {folder, "terraform", "modules/queue/terraform"}, {folder, "../other", "../other"}, {folder, "/etc", "/etc"},
	} {
		var below *string
		if c.below != "" {
			below = &c.below
		}
		source, err := manifest.GitSource(t.Context(), c.folder, below)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if source.Path != nil {
			got = *source.Path
		}
		if got != c.want {
			t.Errorf("%q below %s: %q, want %q", c.below, c.folder, got, c.want)
		}
	}
}
