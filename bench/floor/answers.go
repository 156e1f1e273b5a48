package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"time"

	"slipway/internal/base/id"
	"slipway/internal/data/store"
)

// reader reads the answers.
type reader struct{ store *store.Store }

// The statements are those of the ceiling.
const (
	deploymentSQL = `SELECT id, organization_id, project_id, environment_id, module_instance_id, deployment_type,
trigger_source,
description, started_at, completed_at, resource_name, created_at FROM deployments WHERE id = $1 AND organization_id =
$2`

	dataSQL = `SELECT id, data FROM deployments WHERE id = $1 AND organization_id = $2`

	deploymentsSQL = `SELECT d.id, d.deployment_type, d.trigger_source, d.created_at, i.id, i.name, r.id, r.created_at
FROM deployments d
JOIN module_instances i ON i.id = d.module_instance_id LEFT JOIN deployments r ON r.id = d.rollback_to_deployment_id
WHERE d.organization_id = $1 AND d.environment_id = $2 ORDER BY d.created_at DESC, d.id DESC LIMIT 51`

	definitionsSQL = `(SELECT id, name, description, type, created_at, updated_at, latest_version, latest_version_id,
organization_id
FROM module_definitions WHERE organization_id = $1 ORDER BY created_at DESC, id DESC LIMIT 51)
UNION ALL (SELECT id, name, description, type, created_at, updated_at, latest_version, latest_version_id,
organization_id
FROM module_definitions WHERE organization_id IS NULL ORDER BY created_at DESC, id DESC LIMIT 51) ORDER BY created_at
DESC, id DESC LIMIT 51`

	// pageSize is how many of the rows of a list are shown. One more is read to know whether there are more.
	pageSize = 50
)

// answer is a text of JSON that is written member by member.
type answer []byte

func (a *answer) raw(text string) { *a = append(*a, text...) }

// text writes a member with a text, or with null; the name is as it stands in JSON, with what is before it.
func (a *answer) text(name string, value sql.NullString) {
	a.raw(name)
	if !value.Valid {
		a.raw("null")
		return
	}
	for _, c := range []byte(value.String) {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			encoded, err := json.Marshal(value.String)
			if err != nil {
				panic(err) // a text can be encoded
			}
			*a = append(*a, encoded...)
			return
		}
	}
	a.raw(`"`)
	a.raw(value.String)
	a.raw(`"`)
}

// time writes a member with a time, or with null.
func (a *answer) time(name string, value sql.NullTime) {
	a.raw(name)
	if !value.Valid {
		a.raw("null")
		return
	}
	a.raw(`"`)
	*a = value.Time.UTC().AppendFormat(*a, time.RFC3339Nano)
	a.raw(`"`)
}

// deployment returns the answer to A.
func (r reader) deployment(ctx context.Context, owner, deploymentID string) ([]byte, error) {
	a := answer(`{"data":{"deployment":null}}`)
	err := r.store.Query(ctx, deploymentSQL, []any{deploymentID, owner}, func(rows store.Rows) error {
		var (
			texts                       [9]sql.NullString
			started, completed, created sql.NullTime
		)
		if err := rows.Scan(
			&texts[0], &texts[1], &texts[2], &texts[3], &texts[4], &texts[5], &texts[6], &texts[7], &started, &completed,
			&texts[8], &created,
		); err != nil {
			return err
		}

		a = make(answer, 0, 1<<10)
		for i, name := range []string{
			`{"data":{"deployment":{"id":`, `,"organizationId":`, `,"projectId":`, `,"environmentId":`,
			`,"moduleInstanceId":`, `,"deploymentType":`, `,"triggerSource":`, `,"description":`,
		} {
			a.text(name, texts[i])
		}

		a.time(`,"startedAt":`, started)
		a.time(`,"completedAt":`, completed)
		a.text(`,"resourceName":`, texts[8])
		a.time(`,"createdAt":`, created)
		a.raw(`}}}`)

		return nil
	})

	return a, err
}

// data returns the answer to B.
func (r reader) data(ctx context.Context, owner, deploymentID string) ([]byte, error) {
	a := answer(`{"data":{"deployment":null}}`)
	err := r.store.Query(ctx, dataSQL, []any{deploymentID, owner}, func(rows store.Rows) error {
		var (
			name sql.NullString
			data []byte
		)
		if err := rows.Scan(&name, &data); err != nil {
			return err
		}
		a = make(answer, 0, 100+len(data))
		a.text(`{"data":{"deployment":{"id":`, name)
		a.raw(`,"dataJson":`)
		a = append(a, data...)
		a.raw(`}}}`)
		return nil
	})
	return a, err
}

// deployments returns the answer to C.
func (r reader) deployments(ctx context.Context, owner, environmentID string) ([]byte, error) {
	p := newPage("deployments")
	err := r.store.Query(ctx, deploymentsSQL, []any{owner, environmentID}, func(rows store.Rows) error {
		var (
			name, kind, source, instance, instanceName, target sql.NullString
			created, targetCreated                             sql.NullTime
		)
		if err := rows.Scan(&name, &kind, &source, &created, &instance, &instanceName, &target, &targetCreated); err != nil {
			return err
		}
		if !p.begin(name.String, created.Time) {
			return nil
		}

		p.text(`{"id":`, name)
		p.text(`,"deploymentType":`, kind)
		p.text(`,"triggerSource":`, source)
		p.time(`,"createdAt":`, created)
		p.text(`,"moduleInstance":{"id":`, instance)
		p.text(`,"name":`, instanceName)
		if !target.Valid {
			p.raw(`},"rollbackTo":null}}`)
			return nil
		}

		p.text(`},"rollbackTo":{"id":`, target)
		p.time(`,"createdAt":`, targetCreated)
		p.raw(`}}}`)
		return nil
	})

	return p.end(), err
}

// definitions returns the answer to D.
func (r reader) definitions(ctx context.Context, owner string) ([]byte, error) {
	p := newPage("moduleDefinitions")
	err := r.store.Query(ctx, definitionsSQL, []any{owner}, func(rows store.Rows) error {
		var (
			name, title, description, kind, version, versionID, organization sql.NullString
			created, updated                                                 sql.NullTime
		)
		if err := rows.Scan(
			&name, &title, &description, &kind, &created, &updated, &version, &versionID, &organization,
		); err != nil {
			return err
		}
		if !p.begin(name.String, created.Time) {
			return nil
		}

		p.text(`{"id":`, name)
		p.text(`,"name":`, title)
		p.text(`,"description":`, description)
		p.text(`,"type":`, kind)
		p.time(`,"createdAt":`, created)
		p.time(`,"updatedAt":`, updated)
		p.text(`,"latestVersion":`, version)
		p.text(`,"latestVersionId":`, versionID)
		p.text(`,"organizationId":`, organization)

		p.raw(`}}`)
		return nil
	})

	return p.end(), err
}

// page is the answer with a connection.
type page struct {
	answer
	size int
	more bool
	last string
}

func newPage(field string) *page {
	const usual = 24 << 10
	p := &page{answer: make(answer, 0, usual)}
	p.raw(`{"data":{"` + field + `":{"edges":[`)
	return p
}

// begin writes an edge up to its node, and reports whether the row is still of the page.
func (p *page) begin(name string, created time.Time) bool {
	if p.size == pageSize {
		p.more = true
		return false
	}
	if p.size > 0 {
		p.raw(`,`)
	}
	p.size++
	p.last = cursor(name, created)
	p.raw(`{"cursor":"` + p.last + `","node":`)
	return true
}

func (p *page) end() []byte {
	p.raw(`],"pageInfo":{"hasNextPage":` + strconv.FormatBool(p.more) + `,"endCursor":`)
	p.text("", sql.NullString{String: p.last, Valid: p.size > 0})
	p.raw(`}}}}`)
	return p.answer
}

// cursor returns a text with the position of a record in its list, as long as the program's own.
func cursor(name string, created time.Time) string {
	const binding = 4 // which the program's cursors have of their list
	var space [64]byte
	raw, _ := id.AppendBinary(binary.AppendUvarint(space[:binding], uint64(created.UnixMicro())), name)
	return base64.RawURLEncoding.EncodeToString(raw)
}
