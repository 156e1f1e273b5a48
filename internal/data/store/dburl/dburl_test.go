package dburl_test

import (
	"errors"
	"strings"
	"testing"

	"slipway/internal/data/store/dburl"
)

func TestURLsThatNameADatabase(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"sqlite:slipway.db",
		"sqlite:/var/lib/slipway/a b.db",
		"postgres://app@db.example/slipway",
		"postgresql://app:pa%20ss@db.example:5433/slipway?sslmode=disable",
		"postgres://app:secret@a.example,b.example:5433/slipway?target_session_attrs=read-write&connect_timeout=2",
		"host=a.example,b.example port=5432,5433 dbname=slipway user=app password='it\\'s' target_session_attrs=read-write",
		"host=/run/postgresql dbname=slipway",
	} {
		if err := dburl.Check(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestURLsThatNameNoneAreRefusedWithoutTheirPassword(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                                "want sqlite:PATH",
		"slipway.db":                      "want sqlite:PATH",
		"mysql://root:hunter2@db/slipway": "want sqlite:PATH",
		"sqlite:":                         "path of a file",
		"sqlite::memory:":                 "path of a file",
		"sqlite:a.db?mode=ro":             "without ? and #",
		"sqlite:a.db#x":                   "without ? and #",
		"postgres://app:hunter2@db.example:port/slipway":              "port",
		"postgres://app:hunter2%zz@db.example/slipway":                "escape",
		"postgres://app:hunter2%zz@a.example,b.example/slipway":       "escape",
		"postgres://app:hunter2@a.example:x,b.example/slipway":        "port",
		"postgres://app:hunter2@db.example/slipway?connect_timeout=x": "connect_timeout",
		"host=db.example password=hunter2 port=x":                     "port",
	} {
		err := dburl.Check(url)
		switch {
		case !errors.Is(err, dburl.ErrInvalid):
			t.Errorf("%s: %v", url, err)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want a word on %q", url, err, want)
		case strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error tells the password: %v", url, err)
		}
	}
}
