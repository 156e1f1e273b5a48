package inputvalidation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/page"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputvalues"
)

// Outdated is a reference of what is live, of which another deployment is live by now than the one that was read, and
// with other values, or none.
type Outdated struct {
	// Pointer is the place of the reference in the inputs of the release.
	Pointer string
	// InstanceID is the chosen instance, ReadID the deployment that was read, and LiveID the one that is live there, nil
	// for none.
	InstanceID, ReadID string
	LiveID             *string
}

// OutdatedConnection is a page of outdated references.
type OutdatedConnection = page.Connection[*Outdated]

// OutdatedEdge is an outdated reference on a page.
type OutdatedEdge = page.Edge[*Outdated]

const (
	// maxOutdated is how many outdated references of an instance are shown.
	maxOutdated = 1000
	// outdatedBytes is about what it takes to look at one reference, as bytes of what is read back.
	outdatedBytes = 128
)

// moved is a reference of what is live at an instance, whose chosen instance has another deployment live than was read.
type moved struct {
	Outdated
	of     string
	paths  []string
	digest string
}

// Outdated returns the references of what is live at some instances that are not what they were when they were read, by
// the ids of the instances: at most 1,000 of each, in the order of the form. A release is opened only where another one
// is live than was read; that is counted as work of the context's request.
func (s *Service) Outdated(ctx context.Context, instanceIDs []string) (map[string][]*Outdated, error) {
	all, err := s.moved(ctx, instanceIDs)
	if err != nil {
		return nil, err
	}
	digests, err := s.digests(ctx, all)
	if err != nil {
		return nil, err
	}
	found := map[string][]*Outdated{}
	for _, m := range all {
		same := m.LiveID != nil && (len(m.paths) == 0 || digests[m.source()] == m.digest)
		if !same && len(found[m.of]) < maxOutdated {
			found[m.of] = append(found[m.of], &m.Outdated)
		}
	}
	return found, nil
}

// source says what a reference has read: the instance and the paths.
func (m *moved) source() string { return m.InstanceID + " " + strings.Join(m.paths, " ") }

// moved returns the references of what is live at the instances whose chosen instances have another deployment live
// now.
func (s *Service) moved(ctx context.Context, instanceIDs []string) (all []*moved, err error) {
	scope := store.Scope(actor.From(ctx))
	text, after := sqliteTexts.keepers, sqliteTexts.moved
	if s.Store.Postgres() {
		text, after = postgresTexts.keepers, postgresTexts.moved
	}
	var keepers []string

	of := map[string][]string{} // the instances whose live deployment has its references kept by another or by itself
	err = s.Store.Query(ctx, text, []any{s.Store.List(instanceIDs), scope}, func(row store.Rows) error {
		var instance string
		var keeper *string
		err := row.Scan(&instance, &keeper)
		if keeper != nil {
			keepers, of[*keeper] = append(keepers, *keeper), append(of[*keeper], instance)
		}
		return err
	})
	if err != nil || len(keepers) == 0 {
		return nil, err
	}

	err = s.Store.Query(ctx, after, []any{s.Store.List(keepers), scope}, func(row store.Rows) error {
		var keeper string
		m, paths, digest := &moved{}, (*string)(nil), (*string)(nil)
		if err := row.Scan(&keeper, &m.Pointer, &m.InstanceID, &m.ReadID, &paths, &digest, &m.LiveID); err != nil {
			return err
		}

		bytes := outdatedBytes
		if paths != nil && digest != nil {
			bytes, m.digest = bytes+len(*paths), *digest
			if err := json.Unmarshal([]byte(*paths), &m.paths); err != nil {
				return err
			}
		}

		for _, instance := range of[keeper] {
			one := *m
			one.of = instance
			all = append(all, &one)
		}

		return meter.Spend(ctx, meter.Stored, bytes)
	})

	return all, err
}

// movedTexts are the statements of moved: who has the references of what is live at instances, and which of these
// references have other deployments live at their chosen instances than they have read. What is live is a scalar
// subquery, so that PostgreSQL goes to it by its id.
type movedTexts struct{ keepers, moved string }

var (
	postgresTexts = newMovedTexts(`= ANY ($1)`, ``)
	sqliteTexts   = newMovedTexts(`IN (SELECT "value" FROM json_each($1))`, `+`)
)

func newMovedTexts(among, plus string) movedTexts {
	owned := func(table string) string { return ` AND ` + plus + `"` + table + `"."organization_id" = $2` }
	live := `(SELECT "c"."live_deployment_id" FROM "module_instances" AS "c" WHERE "c"."id" = "r"."module_instance_id"` +
		owned("c") + `)`
	return movedTexts{
		keepers: `SELECT "i"."id", (SELECT "d"."given_from" FROM "deployments" AS "d" WHERE "d"."id" =
"i"."live_deployment_id"` + owned("d") + `)
FROM "module_instances" AS "i" WHERE "i"."id" ` + among + owned("i"),
		moved: `SELECT "r"."deployment_id", "r"."pointer", "r"."module_instance_id", "r"."read_deployment_id", "r"."paths",
"r"."digest", ` + live + ` AS "live"
FROM "deployment_references" AS "r" WHERE "r"."deployment_id" ` + among + owned("r") +
			` AND "r"."read_deployment_id" IS NOT NULL
AND "r"."read_deployment_id" IS DISTINCT FROM ` + live + ` ORDER BY "r"."sequence"`,
	}
}

// digests returns the digests of what references would read now, by their sources.
func (s *Service) digests(ctx context.Context, all []*moved) (map[string]string, error) {
	sources, reads := map[string]*moved{}, map[string]*inputvalues.Choice{}
	var chosen []string
	for _, m := range all {
		if m.LiveID == nil || len(m.paths) == 0 {
			continue
		}
		sources[m.source()] = m
		if reads[m.InstanceID] == nil {
			reads[m.InstanceID] = &inputvalues.Choice{ID: m.InstanceID}
			chosen = append(chosen, m.InstanceID)
		}
		reads[m.InstanceID].Reads(m.paths)
	}

	now := &references{asked: map[string]bool{}, found: map[string]*referencedInstance{}}
	for some := range slices.Chunk(chosen, maxReferences) {
		choices := make([]inputvalues.Choice, len(some))
		for i, id := range some {
			choices[i] = *reads[id]
		}
		r, err := s.lookUp(ctx, "", choices)
		if err != nil {
			return nil, err
		}
		for id, instance := range r.found {
			now.found[id] = instance
		}
	}

	digests := map[string]string{}
	for source, m := range sources {
		digest, err := now.digest(ctx, m.InstanceID, m.paths)
		if err != nil {
			return nil, err
		}
		digests[source] = digest
	}

	return digests, nil
}

// digest returns the digest of what an instance has at some paths, of which it may have only some.
func (r *references) digest(ctx context.Context, instanceID string, paths []string) (string, error) {
	var read []inputvalues.Read
	bytes := 0
	for _, path := range paths {
		value, ok, err := r.value(ctx, instanceID, path)
		if _, missing := errors.AsType[*inputvalues.MissingOutput](err); err != nil && !missing &&
			!errors.Is(err, inputvalues.ErrNotLive) {
			return "", err
		}
		if ok {
			read = append(read, inputvalues.Read{Path: path, Value: value})
			bytes += len(path) + len(value.JSON())
		}
	}
	return inputvalues.Digest(read), meter.Spend(ctx, meter.Proved, bytes)
}
