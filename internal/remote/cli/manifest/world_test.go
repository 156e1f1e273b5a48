package manifest_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputprop/inputtest"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// golden compares a text with the file of its name in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: want (-), got (+):\n%s", name, diff)
	}
}

// allVariants returns a list of inputs, one of each variant with every member that it may have.
func allVariants(t *testing.T) []inputprop.Property {
	t.Helper()
	text, err := os.ReadFile("../../../pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	return inputtest.MustDecodeList(t, string(text))
}
