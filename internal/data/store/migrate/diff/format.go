package diff

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/sqltool"
	"entgo.io/ent/dialect"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store/migrate/lint"
)

// formatter writes goose's files without their Down sections: a migration is never taken back. Those of
// PostgreSQL keep no server waiting that serves beside them.
type formatter struct {
	dialect string
	// existing are the migrations that are there, in the order of their versions.
	existing []migrate.File
	now      time.Time
}

// Format returns the migrations of a plan, or an error for what a migration should not do.
func (f formatter) Format(plan *migrate.Plan) ([]migrate.File, error) {
	steps := []step{{statements: commands(plan)}}
	if f.dialect == dialect.Postgres {
		steps = postgresSteps(commands(plan))
	}
	with := f.compatibleWith()
	files := make([]migrate.File, len(steps))
	at := f.firstVersion()
	for i, s := range steps {
		version := at.Add(time.Duration(i) * time.Second).Format(versionLayout)
		if removes.MatchString(strings.Join(s.statements, "\n")) {
			with = version // whoever reads what it takes away has to be gone
		}
		files[i] = &sqltool.GooseFile{LocalFile: migrate.NewLocalFile(version+"_"+plan.Name+".sql", []byte(s.text(with)))}
	}
	return files, f.check(files)
}

// commands returns the statements of a plan.
func commands(plan *migrate.Plan) []string {
	list := make([]string, len(plan.Changes))
	for i, c := range plan.Changes {
		list[i] = c.Cmd
	}
	return list
}

const versionLayout = "20060102150405"

// firstVersion returns the time, which is what orders migrations, or what comes after the last migration.
func (f formatter) firstVersion() time.Time {
	now := f.now.UTC().Truncate(time.Second)
	if len(f.existing) == 0 {
		return now
	}
	last, err := time.Parse(versionLayout, f.existing[len(f.existing)-1].Version())
	if err == nil && !now.After(last) {
		return last.Add(time.Second)
	}
	return now
}

var removes = regexp.MustCompile(`(?i)\b(DROP (TABLE|COLUMN)|RENAME)\b`)

// compatibleWith returns what a migration is compatible with that only adds: what the last one is, or the last one
// itself.
func (f formatter) compatibleWith() string {
	if len(f.existing) == 0 {
		return f.firstVersion().Format(versionLayout)
	}
	last := f.existing[len(f.existing)-1]
	if with, ok := entmigrate.CompatibleWith(last.Bytes()); ok {
		return strconv.FormatInt(with, 10)
	}
	return last.Version()
}

// check returns what is wrong with new migrations.
func (f formatter) check(files []migrate.File) error {
	all := slices.Concat(f.existing, files)
	problems := lint.SQLite(all)
	if f.dialect == dialect.Postgres {
		var err error
		if problems, err = lint.Postgres(all); err != nil {
			return err
		}
	}
	var err error
	for _, p := range problems {
		if slices.ContainsFunc(files, func(f migrate.File) bool { return f.Name() == p.File }) {
			err = errors.Join(err, fmt.Errorf("not written, write it by hand: %s", p))
		}
	}
	return err
}
