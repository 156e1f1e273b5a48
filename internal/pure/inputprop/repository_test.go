package inputprop_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestRepositoryURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"https://github.example/owner/repo", "https://github.example/owner/repo.git", "https://h:8443/group/sub/repo", "https://h/a/b/",
		"HTTPS://h/a/b", "https://dev.example/org/My%20Project/_git/repo", "ssh://git@h/a/b.git", "ssh://h:22/a/b", "git@h:a/b.git", "h:a/b",
		"git@h.example:/srv/git/repo.git", "https://${{ project.slug }}.example/a", "${{ project.slug }}", "https://h/~user/repo",
	} {
		if got := gitrepo(t, url); len(got) > 0 {
			t.Errorf("%s: %v", url, got)
		}
	}
	for url, flaw := range map[string]string{
		"": "host", "repo": "host", "a/b": "host", "/srv/git/repo": "host", "http://h/a/b": "scheme", "file:///a/b": "scheme", "git://h/a/b": "scheme",
		"ext::sh -c x": "space", "https://user@h/a/b": "credentials", "https://u:p@h/a/b": "credentials", "ssh://git:secret@h/a/b": "credentials",
		"https://h/a/b?x=1": "query", "https://h/a/b?": "query", "https://h/a/b#x": "query", "https://h/a/b#": "query", "git@h:a/b?x": "query", "git@h:a/b#x": "query",
		"https://h/a/../b": "path", "https://h/a/%2e%2e/b": "path", "git@h:../a/b": "path", "https://h/a/-b": "path", "git@h:-a/b": "path", "https://h/a//b": "path", "https://h/a/./b": "path",
		"https://h/a": "two parts", "https://h": "path", "git@h:a": "two parts", "https:///a/b": "host", "https://-h/a/b": "host", "-oProxy=x@h:a/b": "user", "ssh://-oProxy=x@h/a/b": "user",
		"-h:a/b": "host", "git@:a/b": "host", "https://h..x/a/b": "host", "https://h:0/a/b": "port", "https://h:99999/a/b": "port", "https://h:/a/b": "port", "https://h:x/a/b": "read as a URL",
		"https://h/a b/c": "space", "https://h/a\\b/c": "space", "https://h/a\u200bb/c": "cannot be seen", "https://h/a\n/c": "space", "@h:a/b": "user",
	} {
		if got := gitrepo(t, url); len(got) != 1 || !strings.Contains(got[0], flaw) {
			t.Errorf("%q: got %v, want %s", url, got, flaw)
		}
	}
}

func gitrepo(t *testing.T, url string) []string {
	t.Helper()
	quoted, err := json.Marshal(url)
	if err != nil {
		t.Fatal(err)
	}
	_, violations := decode(t, `{"id":"a","label":"A","type":"gitrepo","default":`+string(quoted)+`}`)
	if len(violations) > 0 && !slices.Equal(places(violations), []string{"/default format"}) {
		t.Errorf("%q: %v", url, violations)
	}
	messages := []string{}
	for _, v := range violations {
		_, flaw, _ := strings.Cut(v.Message, ": ")
		messages = append(messages, flaw)
	}
	return messages
}
