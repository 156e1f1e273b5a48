package store_test

import (
	"errors"
	"strings"
	"testing"

	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

func TestTextsThatPostgreSQLCannotKeepAreRefusedOnBoth(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for _, text := range []string{"a\x00b", "a\xffb"} {
			_, err := w.Store.Client.Project.Query().Where(project.Slug(text)).All(w.Acme.As(actor.Viewer))
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.RequestInvalid || strings.Contains(f.Message, text) {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
