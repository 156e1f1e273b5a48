package manifest_test

import (
	"os"
	"path/filepath"
	"testing"

	"slipway/internal/remote/cli/manifest"
)

func TestTheModulesOfTheDocumentsPublishAsTheyAre(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../../docs/modules/*/slipway-module.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d modules", err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Read(file, text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if findings, err := m.Lint(t.Context(), ""); err != nil || len(findings) > 0 {
			t.Errorf("%s: %v %v", file, findings, err)
		}
		if m.Version == "" || m.Source == nil {
			t.Errorf("%s: it has the version %q and the source %v", file, m.Version, m.Source)
		}
	}
}
