package store_test

import (
	"strings"
	"testing"

	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
	"slipway/internal/test/testkit"
)

func TestUnreachableDatabaseIsNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	closed := testkit.ClosedAddress(t)
	host, port, _ := strings.Cut(closed, ":")
	for url, named := range map[string]string{
		"postgres://app:hunter2@" + closed + "/slipway?sslmode=disable":                                  "postgres://app@" + closed + "/slipway",
		"postgres://app:hunter2@" + closed + "," + closed + "/slipway?sslmode=disable":                   "postgres://app@" + closed + "/slipway",
		"host=" + host + " port=" + port + " user=app password=hunter2 dbname=slipway sslmode='disable'": "postgres://app@" + closed + "/slipway",
		"sqlite:" + t.TempDir() + "/none/slipway.db":                                                     "/none/slipway.db",
	} {
		_, openErr := store.Open(t.Context(), store.Config{URL: url})
		_, migrateErr := migrate.Up(t.Context(), url)
		_, listErr := migrate.List(t.Context(), url)
		for call, err := range map[string]error{"open": openErr, "migrate": migrateErr, "list migrations": listErr} {
			switch {
			case err == nil:
				t.Errorf("%s %s: no error", call, url)
			case !strings.Contains(err.Error(), "cannot open the database") || !strings.Contains(err.Error(), named):
				t.Errorf("%s %s: %v, want the database named as %s", call, url, err, named)
			case strings.Contains(err.Error(), "hunter2"):
				t.Errorf("%s %s: the error tells the password: %v", call, url, err)
			}
		}
	}
}
