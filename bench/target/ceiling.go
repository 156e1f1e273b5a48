//go:build linux

package target

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"slipway/bench/ceiling"
	"slipway/bench/data"
	"slipway/bench/database"
	"slipway/bench/report"
	"slipway/bench/requests"
)

// Ceiling is PostgreSQL itself: the best statements for each answer, prepared, sent by pgbench.
type Ceiling struct {
	program  string
	database *database.Postgres
	world    data.World
	// folder has the scripts.
	folder string
}

// CeilingName is what the ceiling is called in the table.
const CeilingName = "ceiling"

// NewCeiling finds pgbench and writes its scripts. The caller stops it.
func NewCeiling(d *database.Postgres, w data.World) (*Ceiling, error) {
	program := filepath.Join(d.Bin, "pgbench")
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("the ceiling needs pgbench, which comes with PostgreSQL: %w", err)
	}
	folder, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	return &Ceiling{program, d, w, folder}, os.CopyFS(folder, ceiling.Scripts)
}

// Stop removes the scripts.
func (c *Ceiling) Stop() error { return os.RemoveAll(c.folder) }

// Name is that in the table.
func (c *Ceiling) Name() string { return CeilingName }

// Measures reports whether there is a script for a kind of request.
func (c *Ceiling) Measures(kind *requests.Kind) bool {
	_, err := os.Stat(c.script(kind))
	return err == nil
}

func (c *Ceiling) script(kind *requests.Kind) string {
	return filepath.Join(c.folder, strings.ReplaceAll(kind.Name, " ", "-")+".sql")
}

// Warm runs the script for a time.
func (c *Ceiling) Warm(ctx context.Context, kind *requests.Kind, connections int, duration time.Duration) error {
	_, err := c.run(ctx, kind, connections, duration, 0)
	if err == nil && kind.Writes {
		err = c.database.Clear(ctx)
	}
	return err
}

// Round measures for a time.
func (c *Ceiling) Round(
	ctx context.Context, kind *requests.Kind, connections int, duration time.Duration, seed uint64,
) (m report.Measurement, err error) {
	own := measured(c.database.CPU)
	if m, err = c.run(ctx, kind, connections, duration, seed); err != nil {
		return m, err
	}
	if m.Requests == 0 {
		return m, fmt.Errorf("pgbench has completed nothing in %s", duration)
	}
	if m.DatabaseCPU, err = own.each(m.Requests); err != nil {
		return m, err
	}
	if !kind.Writes {
		return m, nil
	}
	if err := c.database.CheckWritten(ctx, m.Requests); err != nil {
		return m, fmt.Errorf(
			"%w (it takes an instance for each, of which there are %d: shorten the rounds)", err, data.Instances,
		)
	}
	return m, c.database.Clear(ctx)
}

var (
	perSecond = regexp.MustCompile(`(?m)^tps = ([\d.]+)`)
	processed = regexp.MustCompile(`(?m)^number of transactions actually processed: (\d+)`)
)

// sessionOptions are what the program sets in its sessions, too.
const sessionOptions = "-c random_page_cost=1 -c jit=off -c app.isolation=filter -c statement_timeout=1000"

func numberIn(pattern *regexp.Regexp, text []byte) (float64, error) {
	found := pattern.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("there is no line like %s in\n%.4000s", pattern, text)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

func (c *Ceiling) run(
	ctx context.Context, kind *requests.Kind, connections int, duration time.Duration, seed uint64,
) (m report.Measurement, err error) {
	u, err := url.Parse(c.database.URL)
	if err != nil {
		return m, err
	}

	password, _ := u.User.Password()
	seconds := max(int(duration.Seconds()), 1) // it knows whole seconds only
	run := exec.CommandContext(ctx, c.program, "--no-vacuum", "--protocol=prepared", "--jobs=1", "--client="+strconv.Itoa(
		connections,
	),
		"--time="+strconv.Itoa(seconds), "--random-seed="+strconv.FormatUint(seed+1, 10), "--file="+c.script(kind),
		"--define=deployments="+strconv.Itoa(c.world.Deployments), "--define=clients="+
			strconv.Itoa(connections), "--define=turn=-1")

	run.Env = append(os.Environ(), "PGHOST="+
		u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(), "PGPASSWORD="+password,
		"PGDATABASE="+strings.TrimPrefix(u.Path, "/"), "PGSSLMODE="+u.Query().Get("sslmode"), "PGOPTIONS="+sessionOptions)
	out, err := run.CombinedOutput()
	if err != nil {
		return m, fmt.Errorf("pgbench for %s: %w\n%s", kind.Name, err, out)
	}

	n, err := numberIn(processed, out)
	if err != nil {
		return m, err
	}
	if m.Requests = int(n); m.Requests == 0 {
		return m, nil
	}

	m.PerSecond, err = numberIn(perSecond, out)
	return m, err
}
