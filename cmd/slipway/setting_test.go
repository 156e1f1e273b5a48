package main_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestBadSettingEndsWithTwoAndSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		says string
	}{
		{"serve --listen 8080", `--listen: want HOST:PORT, such as 127.0.0.1:8080, found "8080"`},
		{"serve --listen :65536", `--listen: want HOST:PORT with a port from 0 to 65535, found ":65536"`},
		{"serve --admin-listen nowhere", `--admin-listen: want HOST:PORT`},
		{"serve --debug-listen nowhere", `--debug-listen: want HOST:PORT`},
		{"serve --trusted-proxies 10.0.0.1", `--trusted-proxies: want networks such as 10.0.0.0/8,2001:db8::/32, found "10.0.0.1"`},
		{"serve --trusted-proxies 10.0.0.0/8,,::1/128", `--trusted-proxies: want networks such as 10.0.0.0/8,2001:db8::/32, found ""`},
		{"serve --trusted-proxies 10.1.2.3/8", `found "10.1.2.3/8": the network is 10.0.0.0/8`},
		{"serve --trusted-proxies ::ffff:10.0.0.0/104", `found "::ffff:10.0.0.0/104": write the IPv4 network by itself`},
		{"serve --trusted-proxies proxy.internal", `--trusted-proxies: want networks`},
		{"serve --max-failed-authentications 0", `--max-failed-authentications: want a number from 1 to`},
		{"serve --max-anonymous-connections 0", `--max-anonymous-connections: want a number from 1 to`},
		{"serve --database mysql://me:secret@db/x", `--database: not a database URL: want sqlite:PATH, postgres://USER@HOST/NAME or key=value pairs, found "mysql:…"`},
		{"serve --database sqlite:", `--database: not a database URL: sqlite: needs the path of a file`},
		{"serve --database-direct x", `--database-direct: not a database URL`},
		{"serve --database sqlite:a.db --database-direct postgres://b/c", `--database-direct: want PostgreSQL for both, found SQLite in --database`},
		{"serve --database postgres://b/c --database-direct sqlite:a.db", `found SQLite in --database-direct`},
		{"serve --isolation none", `--isolation: want one of filter, strict, found "none"`},
		{"serve --max-streams-per-organization third", `--max-streams-per-organization: want half or a number from 0 to 1073741824, found "third"`},
		{"serve --max-streams-per-organization -1", `--max-streams-per-organization: want half or a number from 0 to 1073741824, found "-1"`},
		{"serve --max-connections 0", `--max-connections: want a number from 1 to 1000, found "0"`},
		{"serve --base-url example.com", `--base-url: want an http or https URL without user, query and fragment, found "example.com"`},
		{"serve --base-url https://me@example.com", `--base-url: want an http or https URL`},
		{"serve --allowed-origins https://App.example", `--allowed-origins: want an origin in lower case, as browsers send it: https://app.example, found "https://App.example"`},
		{"serve --allowed-origins https://a.example,https://b.example/", `--allowed-origins: want an origin, which has no user, path, query or slash at its end, found "https://b.example/"`},
		{"serve --allowed-origins https://a.example --allowed-origins null", `--allowed-origins: want an origin; null is`},
		{"serve --allowed-origins https://a.example,", `--allowed-origins: want an origin such as https://app.example or http://localhost:*, or *, found ""`},
		{"demo --allowed-origins https://*.example", `--allowed-origins: want the name of one host; * stands alone`},
		{"serve --trusted-only", `--trusted-only: want --trusted-documents as well, found none`},
		{"serve --keep-details 23h59m", `--keep-details: want forever or a duration of at least 24h, such as 2160h, found "23h59m"`},
		{"serve --keep-audit 48h", `--keep-audit: want --audit-archive as well, found none`},
		{"serve --audit-archive .", `--audit-archive: want --keep-audit as well, found none`},
		{"serve --keep-audit 48h --audit-archive ./none", `--audit-archive: want a writable folder: stat ./none`},
		{"serve --trusted-only=yes", `--trusted-only: want true or false`},
		{"serve --trusted-documents /no/such.json", `--trusted-documents: open /no/such.json: no such file or directory`},
		{"serve --introspection=maybe", `--introspection: want true or false, found "maybe"`},
		{"serve --playground=1", `--playground: want true or false, found "1"`},
		{"serve --migrate=no", `--migrate: want true or false, found "no"`},
		{"serve --max-body 12", `--max-body: want a size from 1KiB to 1024MiB, such as 262144 or 256KiB, found "12"`},
		{"serve --max-body 9999999999999MiB", `--max-body: want a size`},
		{"serve --max-query 1KB", `--max-query: want a size`},
		{"serve --request-timeout 10", `--request-timeout: want a duration of at least 1ms, such as 10s, found "10"`},
		{"serve --request-timeout 0s", `--request-timeout: want a duration of at least 1ms`},
		{"serve --lease 59s", `--lease: want a duration of at least 1m0s, such as 1m0s, found "59s"`},
		{"demo --lease 59.999s", `--lease: want a duration of at least 1m0s`},
		{"serve --cancel-timeout 999ms", `--cancel-timeout: want a duration of at least 1s, such as 10s, found "999ms"`},
		{"demo --cancel-timeout forever", `--cancel-timeout: want a duration of at least 1s`},
		{"serve --shutdown-timeout -1s", `--shutdown-timeout: want a duration of at least 1ms`},
		{"serve --drain-wait -1s", `--drain-wait: want a duration of at least 0s`},
		{"serve --log-format xml", `--log-format: want one of auto, text, json, found "xml"`},
		{"serve --log-level loud", `--log-level: want one of debug, info, warn, error, found "loud"`},
		{"serve --log-level info+2", `--log-level: want one of debug, info, warn, error, found "info+2"`},
		{"serve --port 80", `unknown flag: --port`},
		{"serve --listen", `flag needs an argument: --listen`},
		{"serve now", `unknown command "now" for "slipway serve"`},
		{"demo --log-level loud", `--log-level: want one of`},
		{"server", `unknown command "server" for "slipway"`},
		{"org make", `unknown command "make" for "slipway org"`},
		{"org create --slug acme", `--name: want text, found nothing; SLIPWAY_NAME is not set either`},
		{"org create --name= --slug acme", `--name: want at least one character, found ""`},
		{"token create --org acme --name ci", `--role: want viewer|developer|admin|runner|superadmin, found nothing; SLIPWAY_ROLE is not set either`},
		{"token create --org acme --name ci --role owner", `--role: want one of viewer, developer, admin, runner, superadmin, found "owner"`},
		{"token create --name ci --role admin", `--org: want the slug of an organization for the role admin, found nothing`},
		{"token create --org acme --name ci --role superadmin", `--org: want none for the role superadmin, found "acme"`},
		{"token create --org acme --name ci --role admin --expires-in 30d", `--expires-in: want a duration of at least 1s, such as 10s, found "30d"`},
		{"backup", `--to: want text, found nothing; SLIPWAY_TO is not set either`},
		{"backup --to=", `--to: want at least one character, found ""`},
		{"backup --to a.db --database postgres://b/c", `--database: want sqlite:PATH, found PostgreSQL, for which there is pg_dump or pg_basebackup: see docs/backup.md`},
		{"backup --to a.db --database sqlite:a.db --database-direct postgres://b/c", `found SQLite in --database`},
		{"backup a.db", `unknown command "a.db" for "slipway backup"`},
		{"restore", `--from: want text, found nothing; SLIPWAY_FROM is not set either`},
		{"restore --from a.db --database postgres://b/c", `--database: want sqlite:PATH, found PostgreSQL, for which there is pg_restore: see docs/backup.md`},
		{"token revoke", `accepts 1 arg(s), received 0`},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			mustFail(t, 2, c.says, strings.Fields(c.args)...)
		})
	}
}

func TestBadDatabaseURLIsNotShownWithItsPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"mysql://me:secret@db/x", "postgres://me:secret@db:port/x", "me:secret@db", "postgres://me:secret@a,b:x/db", "password=secret sslmode=never",
	} {
		o := run(t, nil, "migrate", "status", "--database", url)
		if o.code != 2 || strings.Contains(o.stderr, "secret") {
			t.Errorf("%s: exit code %d, %s", url, o.code, o.stderr)
		}
	}
}

func TestVariableIsUsedWhereThereIsNoFlag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := "sqlite:"+filepath.Join(dir, "a.db"), "sqlite:"+filepath.Join(dir, "b.db")
	env := variables{"SLIPWAY_DATABASE": a}
	if o := run(t, env, "migrate", "up"); o.code != 0 {
		t.Fatal(o)
	}
	must(t, "migrate", "status", "--database", a)
	if o := run(t, env, "migrate", "up", "--database", b); o.code != 0 {
		t.Fatal(o)
	}
	must(t, "migrate", "status", "--database", b)
	env = variables{"SLIPWAY_DATABASE": a, "SLIPWAY_NAME": "Acme", "SLIPWAY_SLUG": "acme"}
	if o := run(t, env, "org", "create", "--slug", "other"); o.code != 0 {
		t.Fatal(o)
	}
	if list := must(t, "org", "list", "--database", a); !strings.Contains(list, "other") || strings.Contains(list, "acme") {
		t.Errorf("the flag does not win over the variable: %s", list)
	}
}

func TestBadVariableIsNamed(t *testing.T) {
	t.Parallel()
	o := run(t, variables{"SLIPWAY_LOG_LEVEL": "loud"}, "serve")
	want := "slipway: SLIPWAY_LOG_LEVEL: want one of debug, info, warn, error, found \"loud\"\n"
	if o.code != 2 || o.stderr != want {
		t.Errorf("exit code %d, %q, want %q", o.code, o.stderr, want)
	}
	if o := run(t, variables{"SLIPWAY_LOG_LEVEL": "loud"}, "serve", "--log-level", "info", "--listen", "x"); !strings.Contains(o.stderr, "--listen") {
		t.Errorf("a variable that a flag overrules is looked at: %q", o.stderr)
	}
}

func TestHelpNamesTheVariableOfEveryFlag(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`(?m)^ +(?:-h, )?--([a-z-]+).*$`)
	seen := 0
	for _, command := range []string{"serve", "demo", "backup", "restore", "migrate up", "migrate status", "init", "org create", "org list", "token create", "token list", "token revoke"} {
		for _, line := range flag.FindAllStringSubmatch(must(t, append(strings.Fields(command), "--help")...), -1) {
			variable := "[SLIPWAY_" + strings.ToUpper(strings.ReplaceAll(line[1], "-", "_")) + "]"
			if line[1] != "help" && !strings.Contains(line[0], variable) {
				t.Errorf("%s --help: no %s in %s", command, variable, line[0])
			}
			seen++
		}
	}
	if seen < 50 {
		t.Errorf("found only %d flags", seen)
	}
}

func TestHelpOfGroupListsItsCommands(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]string{"": "serve", "org": "create", "token": "revoke", "migrate": "status"} {
		if help := must(t, strings.Fields(group)...); !strings.Contains(help, "\n  "+want) {
			t.Errorf("slipway %s: %s", group, help)
		}
	}
}

func TestCompletionIsThereForFourShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := must(t, "completion", shell); !strings.Contains(script, "slipway") {
			t.Errorf("%s: %.100s", shell, script)
		}
	}
}

func TestVersionNamesGo(t *testing.T) {
	t.Parallel()
	if v := must(t, "version"); !regexp.MustCompile(`^slipway \S+, commit .+, go1\.\d+`).MatchString(v) {
		t.Error(v)
	}
}
