package catalog_test

import (
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
)

func TestASourceIsARepositoryAndAFolderInIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, ref, path, wrong string }{
		{"https://git.example.com/acme/queue", "v1.0.0", "modules/queue", ""},
		{"https://git.example.com:8443/acme/queue.git", "", "", ""},
		{"ssh://git@git.example.com:22/acme/queue", "main", "", ""},
		{"git://git.example.com/queue", "", "", ""},
		{"git@git.example.com:acme/queue.git", "", "", ""},
		{"git.example.com:queue", "", "", ""},
		{"javascript:alert(1)", "", "", "/sourceUrl"}, // host:path, but for the brackets
		{"ext::sh -c touch% /tmp/x", "", "", "/sourceUrl"},
		{"ext::sh", "", "", "/sourceUrl"},
		{"file:///etc", "", "", "/sourceUrl"},
		{"http://git.example.com/acme/queue", "", "", "/sourceUrl"},
		{"/srv/git/queue", "", "", "/sourceUrl"},
		{"../queue", "", "", "/sourceUrl"},
		{"-oProxyCommand=x:y", "", "", "/sourceUrl"},
		{"ssh://-oProxyCommand=x/y", "", "", "/sourceUrl"},
		{"git.example.com:-x", "", "", "/sourceUrl"},
		{"https://me:hush@git.example.com/acme/queue", "", "", "/sourceUrl"},
		{"https://hush@git.example.com/acme/queue", "", "", "/sourceUrl"},
		{"https:///acme/queue", "", "", "/sourceUrl"},
		{"https://git.example.com", "", "", "/sourceUrl"},
		{"https://git.example.com/acme\tqueue", "", "", "/sourceUrl"},
		{"https://git.example.com/\u202eacme/queue", "", "", "/sourceUrl"},
		{"https://git.example.com/" + strings.Repeat("q", 2_048-24), "", "", ""},
		{"https://git.example.com/" + strings.Repeat("q", 2_048-23), "", "", "/sourceUrl"},
		{"https://git.example.com/acme/queue", "--upload-pack=x", "", "/sourceRef"},
		{"https://git.example.com/acme/queue", "", "queue", ""},
		{"https://git.example.com/acme/queue", "", "a/..b/c", ""},
		{"https://git.example.com/acme/queue", "", "..", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", "../queue", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", "a/../../queue", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", "/queue", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", "./queue", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", "queue/", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", ".", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", "-queue", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", `a\b`, "/sourcePath"},
		{"https://git.example.com/acme/queue", "", "a\nb", "/sourcePath"},
		{"https://git.example.com/acme/queue", "", strings.Repeat("q", 1024), ""},
		{"https://git.example.com/acme/queue", "", strings.Repeat("q", 1025), "/sourcePath"},
	} {
		in := module.NewVersion{Version: "1.0.0", Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse("[]"), SourceURL: &c.url}
		if c.ref != "" {
			in.SourceRef = &c.ref
		}
		if c.path != "" {
			in.SourcePath = &c.path
		}
		_, _, violations := in.Check()
		found := ""
		if len(violations) > 0 {
			found = violations[0].Pointer
			if strings.Contains(violations[0].Message, "hush") {
				t.Errorf("%s: the message repeats a password: %s", c.url, violations[0].Message)
			}
		}
		if found != c.wrong || len(violations) > 1 {
			t.Errorf("%q %q %q: %v, want %q", c.url, c.ref, c.path, violations, c.wrong)
		}
	}
	empty := ""
	in := module.NewVersion{Version: "1.0.0", Kind: module.DeploymentTypeTerraform, Inputs: strictjson.MustParse("[]"), SourcePath: &empty}
	if _, _, violations := in.Check(); len(violations) != 1 || violations[0].Pointer != "/sourcePath" {
		t.Errorf("an empty path: %v", violations)
	}
}
