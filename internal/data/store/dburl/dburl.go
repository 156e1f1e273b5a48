// Package dburl reads the URL that says which database to open.
package dburl

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/lib/pq"

	"slipway/internal/data/store/pgconn"
)

// Target is a parsed database URL: a path of SQLite's or a data source name of lib/pq's.
type Target struct{ Path, DSN string }

// IsSQLite reports whether the database is one of SQLite.
func (t Target) IsSQLite() bool { return t.Path != "" }

// String returns the name of the database, without its password.
func (t Target) String() string {
	if t.IsSQLite() {
		return "sqlite:" + t.Path
	}
	c, err := pq.NewConfig(t.DSN)
	if err != nil {
		return "postgres"
	}
	return fmt.Sprintf("postgres://%s@%s:%d/%s", c.User, c.Host, c.Port, c.Database)
}

// ErrInvalid is wrapped by what is wrong with a database URL.
var ErrInvalid = errors.New("not a database URL")

// Check returns what is wrong with a database URL, wrapping ErrInvalid, without opening anything.
func Check(raw string) error {
	_, err := Parse(raw)
	return err
}

// Parse parses a database URL. Its errors wrap ErrInvalid and tell no password.
func Parse(raw string) (Target, error) {
	if path, ok := strings.CutPrefix(raw, "sqlite:"); ok {
		if path == "" || strings.ContainsAny(path, "?#") || strings.HasPrefix(path, ":memory:") {
			return Target{}, fmt.Errorf("%w: sqlite: needs the path of a file, without ? and #", ErrInvalid)
		}
		file, err := followLinks(path)
		if err != nil {
			return Target{}, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		return Target{Path: file}, nil
	}

	dsn := raw
	switch {
	case strings.HasPrefix(raw, "postgres://"), strings.HasPrefix(raw, "postgresql://"):
		var err error
		if dsn, err = severalHosts(raw); err != nil {
			return Target{}, err
		}
	case strings.Contains(raw, "="):
	default:
		return Target{}, fmt.Errorf("%w: want sqlite:PATH, postgres://USER@HOST/NAME or key=value pairs", ErrInvalid)
	}

	if _, _, err := ParseDSN(dsn); err != nil {
		return Target{}, fmt.Errorf("%w: %w", ErrInvalid, withoutSecret(err))
	}
	return Target{DSN: dsn}, nil
}

// ParseDSN returns lib/pq's configuration of a data source name, and what the name says about prepared statements.
func ParseDSN(dsn string) (pq.Config, pgconn.Cache, error) {
	config, err := pq.NewConfig(dsn)
	if err != nil {
		return pq.Config{}, pgconn.Cache{}, err
	}
	cache, err := pgconn.TakeCache(&config)
	return config, cache, err
}

// followLinks returns the file that a symbolic link stands for, and any other path as it is. A file has
// its locks under one name, however it is named.
func followLinks(path string) (string, error) {
	const most = 40
	for range most {
		target, err := os.Readlink(path)
		if err != nil { // no link, or nothing there
			return path, nil //nolint:nilerr // whoever opens it says what is wrong
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("more than %d symbolic links, the last of which is %s", most, path)
}

// withoutSecret returns why a URL does not parse, without its text, which has the password.
func withoutSecret(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return parse.Err
	}
	return err
}

// severalHosts turns postgres://h1:p1,h2:p2/name, which lib/pq does not read, into its key=value form.
// A URL of one host stays as it is.
func severalHosts(raw string) (string, error) {
	scheme, rest, _ := strings.Cut(raw, "://")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}

	authority := rest[:end]
	user, hosts := "", authority
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		user, hosts = authority[:at+1], authority[at+1:]
	}
	if !strings.Contains(hosts, ",") {
		return raw, nil
	}

	u, err := url.Parse(scheme + "://" + user + "host" + rest[end:])
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, withoutSecret(err))
	}

	var names, ports []string
	for h := range strings.SplitSeq(hosts, ",") {
		name, port, ok := strings.Cut(h, ":")
		if !ok {
			port = "5432"
		}
		names, ports = append(names, name), append(ports, port)
	}

	pairs := []string{pair("host", strings.Join(names, ",")), pair("port", strings.Join(ports, ","))}

	if name := strings.TrimPrefix(u.Path, "/"); name != "" {
		pairs = append(pairs, pair("dbname", name))
	}
	if u.User != nil {
		pairs = append(pairs, pair("user", u.User.Username()))
		if password, ok := u.User.Password(); ok {
			pairs = append(pairs, pair("password", password))
		}
	}
	for key, values := range u.Query() {
		pairs = append(pairs, pair(key, values[len(values)-1]))
	}

	return strings.Join(pairs, " "), nil
}

func pair(key, value string) string {
	return key + "='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}
