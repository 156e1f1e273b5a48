// Package deploy_test tries the files for who operates a server: alerts, the dashboard, and configurations.
package deploy_test

import (
	"os"
	"path/filepath"
	"testing"
)

// root leads to the root of the repository, from which the tests name files. They do not change their folder, because go test
// would not see then which files a result is of.
const root = ".."

// read returns a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
