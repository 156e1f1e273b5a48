package dependency

import (
	"strings"

	"slipway/internal/data/store"
)

// kept returns the statement that finds dependents by the references that are kept: the instances that have ever
// referred to one of a list, which it steps through along an index, however often each has, and of these the ones whose
// live or active deployment does. The scalar subqueries keep PostgreSQL from reading whole tables for it.
func kept(postgres bool) string {
	text := `WITH RECURSIVE "candidate" ("chosen", "referrer") AS (
SELECT "p"."value", ` + nextReferrer(`"p"."value"`, "") + ` FROM {parents} AS "p"{value}
UNION ALL SELECT "c"."chosen", ` + nextReferrer(`"c"."chosen"`, ` AND "r"."referrer_id" > "c"."referrer"`) +
		` FROM "candidate" AS "c" WHERE "c"."referrer" IS NOT NULL)
SELECT "c"."chosen", "c"."referrer" FROM "candidate" AS "c" WHERE "c"."referrer" IS NOT NULL
AND (` + refers(`"d"."id" = (SELECT "i"."live_deployment_id" FROM "module_instances" AS "i" WHERE "i"."id" =
"c"."referrer" AND {plus}"i"."organization_id" = $1)
AND {plus}"d"."organization_id" = $1`) + ` OR ` +
		refers(`"d"."organization_id" = $1 AND "d"."module_instance_id" = "c"."referrer" AND `+active) + `)`
	parents, value, plus := `json_each($2)`, ``, `+`
	if postgres {
		parents, value, plus = `unnest(CAST($2 AS text[]))`, ` ("value")`, ``
	}
	return strings.NewReplacer("{parents}", parents, "{value}", value, "{plus}", plus).Replace(text)
}

// nextReferrer returns the expression of the first instance that has ever referred to a chosen one, after another.
func nextReferrer(chosen, after string) string {
	return `(SELECT MIN("r"."referrer_id") FROM "deployment_references" AS "r" WHERE "r"."organization_id" = $1 AND
"r"."module_instance_id" = ` + chosen + after + `)`
}

// refers returns the condition that the deployment which meets another refers to the chosen instance.
func refers(deployment string) string {
	return `(SELECT 1 FROM "deployment_references" AS "r" WHERE "r"."organization_id" = $1 AND "r"."module_instance_id" =
"c"."chosen"
AND "r"."referrer_id" = "c"."referrer" AND "r"."deployment_id" = (SELECT "d"."given_from" FROM "deployments" AS "d"
WHERE ` + deployment + `) LIMIT 1) = 1`
}

// active is that a deployment is active.
var active = store.InProgress(`"d".`)

// unkept returns the statement that finds the live and the active deployments of which nothing is kept: their instances
// and their releases. SQLite, which keeps no statistics, is told by which index.
func unkept(postgres bool) string {
	from, among, end := ` INDEXED BY "deployment_in_progress"`, `IN (`, `) AND +"d"."organization_id" = $1`
	if postgres {
		from, among, end = ``, `= ANY (ARRAY(`, `)) AND "d"."organization_id" = $1`
	}
	const columns = `SELECT "d"."module_instance_id", "d"."release_id" FROM "deployments" AS "d"`
	const nothing = ` AND "d"."given_from" IS NULL AND "d"."release_id" IS NOT NULL`
	const live = `SELECT "i"."live_deployment_id" FROM "module_instances" AS "i" WHERE "i"."organization_id" = $1 AND
"i"."live_deployment_id" IS NOT NULL`
	return columns + ` WHERE "d"."id" ` + among + live + end + nothing +
		` UNION ALL ` + columns + from + ` WHERE "d"."organization_id" = $1 AND ` + active + nothing
}

// texts returns the statement that reads releases of a list: how many bytes each has and, where it may name an
// instance, its text.
func texts(postgres bool) string {
	return `SELECT "id", octet_length("content"), CASE WHEN "content" LIKE '%inst!_%' ESCAPE '!' THEN "content" ELSE ''
END FROM "releases" WHERE ` +
		store.Among(`"id"`, `"organization_id"`, postgres)
}
