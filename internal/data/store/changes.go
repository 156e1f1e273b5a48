package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"slipway/ent/deploymentchange"
	"slipway/internal/pure/feedcursor"
)

// Change is that a deployment was created or changed.
type Change struct {
	feedcursor.Position
	OrganizationID, DeploymentID string
	// Version is that of the deployment after the change.
	Version int32
	// Kind is what the change did, "" if a program wrote it that did not know.
	Kind deploymentchange.Kind
	At   time.Time
	// Settled reports whether no change can come to stand before this one any more: every transaction that began
	// before the one that wrote it has ended.
	Settled bool
}

// The parts of the statements over changes. A change of another cluster, which a restore has left, may have a
// transaction that this cluster has not come to: it is passed over until it is purged.
const (
	changeColumns = `"organization_id", "deployment_id", "version", COALESCE("kind", ''), "created_at", `

	// The number has a name of its own: ORDER BY "xid" would go by a result of that name, for which there is no index.
	postgresChanges = `SELECT "xid"::text::bigint AS "transaction", "id", ` + changeColumns +
		`"xid" < pg_snapshot_xmin(pg_current_snapshot()) ` +
		`FROM "deployment_changes" WHERE "xid" < pg_snapshot_xmax(pg_current_snapshot())`
	sqliteChanges = `SELECT "xid", "id", ` + changeColumns + `1 FROM "deployment_changes" WHERE 1 = 1`

	oldestFirst = ` ORDER BY "xid", "id"`
	newestFirst = ` ORDER BY "xid" DESC, "id" DESC`
)

// NewChanges returns the changes of all organizations after a position, at most limit, in order. Those from the first
// that is not settled on are shown too, and have to be read again: others may come to stand before them. It is for the
// system.
func (s *Store) NewChanges(ctx context.Context, after feedcursor.Position, limit int) ([]Change, error) {
	text := s.changes() + s.compare(">") + oldestFirst + limited(limit)
	return s.systemChanges(ctx, text, s.position(after)...)
}

// NewestChange returns the last settled change of all organizations, nil if there is none. It is for the system.
func (s *Store) NewestChange(ctx context.Context) (*Change, error) {
	return first(s.systemChanges(ctx, s.changes()+s.settled()+newestFirst+limited(1)))
}

// ChangesAfter returns the changes of the actor's organization after a position, as NewChanges does.
func (s *Store) ChangesAfter(ctx context.Context, after feedcursor.Position, limit int) ([]Change, error) {
	return s.ownChanges(ctx, s.compare(">")+oldestFirst+limited(limit), s.position(after)...)
}

// ChangesBefore returns the settled changes of the actor's organization up to a position, at most limit, in the
// opposite order.
func (s *Store) ChangesBefore(ctx context.Context, upTo feedcursor.Position, limit int) ([]Change, error) {
	return s.ownChanges(ctx, s.compare("<=")+s.settled()+newestFirst+limited(limit), s.position(upTo)...)
}

// LastChange returns the last settled change of the actor's organization, nil if there is none.
func (s *Store) LastChange(ctx context.Context) (*Change, error) {
	return first(s.ownChanges(ctx, s.settled()+newestFirst+limited(1)))
}

// LogLines returns how many lines the logs of deployments have had until now, by their ids, whosever they are. It is
// for the system.
func (s *Store) LogLines(ctx context.Context, deploymentIDs []string) (map[string]int64, error) {
	lines := make(map[string]int64, len(deploymentIDs))
	text := `SELECT "id", "log_lines" FROM "deployments" WHERE "id" `
	if s.Postgres() {
		text += `= ANY ($1)`
	} else {
		text += `IN (SELECT "value" FROM json_each(?))`
	}
	err := s.overAll(ctx, text, []any{s.List(deploymentIDs)}, func(rows Rows) error {
		var id string
		var n int64
		err := rows.Scan(&id, &n)
		lines[id] = n
		return err
	})
	return lines, err
}

// ForeignChanges returns at most limit changes of all organizations that were written in another cluster of PostgreSQL,
// by transactions that this one has not come to. They are not shown to anybody, and once the cluster comes to those
// transactions they would be out of place. It is for the system.
func (s *Store) ForeignChanges(ctx context.Context, limit int) (found []OwnedID, err error) {
	if !s.Postgres() {
		return nil, nil
	}
	const text = `SELECT "organization_id", "id" FROM "deployment_changes" ` +
		`WHERE "xid" >= pg_snapshot_xmax(pg_current_snapshot())`
	return s.ownedIDs(ctx, text+oldestFirst+limited(limit), nil)
}

func first(list []Change, err error) (*Change, error) {
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func limited(n int) string { return " LIMIT " + strconv.Itoa(n) }

func (s *Store) changes() string {
	if s.Postgres() {
		return postgresChanges
	}
	return sqliteChanges
}

// compare returns the condition on positions, whose arguments are those of position.
func (s *Store) compare(operator string) string {
	if s.Postgres() {
		return ` AND ("xid", "id") ` + operator + ` (CAST(CAST(? AS text) AS xid8), ?)`
	}
	return ` AND ("xid", "id") ` + operator + ` (?, ?)`
}

func (s *Store) position(p feedcursor.Position) []any {
	if s.Postgres() {
		return []any{strconv.FormatInt(p.Transaction, 10), p.ID}
	}
	return []any{p.Transaction, p.ID}
}

func (s *Store) settled() string {
	if s.Postgres() {
		return ` AND "xid" < pg_snapshot_xmin(pg_current_snapshot())`
	}
	return ""
}

// numbered returns a text with PostgreSQL's parameters in the places of question marks.
func (s *Store) numbered(text string) string {
	if !s.Postgres() {
		return text
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		text = after
	}
}

// ownChanges reads changes of the actor's organization.
func (s *Store) ownChanges(ctx context.Context, conditions string, args ...any) (found []Change, err error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	text := s.changes() + ` AND "organization_id" = ?` + conditions
	err = s.Query(ctx, s.numbered(text), append([]any{scope}, args...), func(rows Rows) error {
		return appendChange(&found, rows)
	})
	return found, err
}

// systemChanges reads changes of all organizations.
func (s *Store) systemChanges(ctx context.Context, text string, args ...any) (found []Change, err error) {
	err = s.overAll(ctx, s.numbered(text), args, func(rows Rows) error { return appendChange(&found, rows) })
	return found, err
}

func appendChange(list *[]Change, rows Rows) error {
	var c Change
	err := rows.Scan(&c.Transaction, &c.ID, &c.OrganizationID, &c.DeploymentID, &c.Version, &c.Kind, &c.At, &c.Settled)
	*list = append(*list, c)
	return err
}
