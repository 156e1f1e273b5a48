package id_test

import (
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/id"
)

func TestIDsTellTheirKindAndSortByCreation(t *testing.T) {
	t.Parallel()
	// The ten characters after the prefix are the milliseconds; what follows is random.
	const stamp = len("dep_") + 10
	var stamps []string
	for range 1000 {
		text := id.New(id.Deployment)
		if !id.Of(id.Deployment, text) {
			t.Fatalf("%q is not of its own kind", text)
		}
		if kind, ok := id.KindOf(text); !ok || kind != id.Deployment {
			t.Fatalf("kind %q %v", kind, ok)
		}
		stamps = append(stamps, text[:stamp])
	}
	if !slices.IsSorted(stamps) {
		t.Error("ids drawn one after the other do not sort so")
	}
}

func TestWhatIsNoIDIsOfNoKind(t *testing.T) {
	t.Parallel()
	good := id.New(id.Deployment)
	for _, text := range []string{
		"", "dep", "dep_", "dep_1", strings.ToUpper(good), good + "0", good[:len(good)-1], "x" + good, " " + good,
		good + "\x00", "dep_" + strings.Repeat("z", 26), "dep_" + strings.Repeat("!", 26), id.New(id.Release), strings.Repeat("a", 1<<16),
	} {
		if id.Of(id.Deployment, text) {
			t.Errorf("%.40q is taken for a deployment's id", text)
		}
	}
	if _, ok := id.KindOf("no id"); ok {
		t.Error("a text without the form has a kind")
	}
}
