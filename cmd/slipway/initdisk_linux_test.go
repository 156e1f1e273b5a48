package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/internal/test/testkit"
)

func TestInitSaysWhatStaysWhereADiskIsFull(t *testing.T) {
	t.Parallel()
	folder, fill, ok := testkit.SmallDisk(t, 1)
	if !ok {
		t.Skip("this process may not mount a file system that is full")
	}
	fill()
	n := newNewcomer(t)
	path := filepath.Join(folder, "runner.token")
	o := n.init("--runner-token", path)
	if o.code != 1 || o.stdout != "" || !strings.Contains(o.stderr, "no space left on device") ||
		!strings.Contains(o.stderr, "the organization acme was created, and its tokens are revoked; create a token with: slipway token create --org acme") {
		t.Errorf("%+v", o)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file of the token stays")
	}
	if files := n.files(); len(files) != 0 {
		t.Errorf("left %v", files)
	}
	list := run(t, n.env, "token", "list", "--org", "acme").stdout
	rows := strings.Split(strings.TrimSpace(list), "\n")[1:]
	if len(rows) != 2 {
		t.Fatalf("tokens:\n%s", list)
	}
	for _, row := range rows {
		if strings.HasSuffix(strings.TrimSpace(row), "-") {
			t.Errorf("is not revoked: %s", row)
		}
	}
}
