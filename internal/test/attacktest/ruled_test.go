package attacktest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/environment"
	"slipway/ent/moduledefinition"
	"slipway/ent/moduleinstance"
	"slipway/ent/project"
	"slipway/internal/base/id"
)

// How much there is in a world that is ruled.
const (
	// hourRules is how many rules of hours there are, which never agree. With the others there are as many as may be.
	hourRules = 190
	// crowded is how many records of a kind there are, more than a search looks through.
	crowded = 10_200
	// packed is how many instances there are in one environment.
	packed = 4_000
	// listed is how many records of a kind a page has.
	listed = 100
	// earlier is how many earlier successes each instance has that has a previous deployment.
	earlier = 50
)

// ruled are the ids of what rules bind.
type ruled struct {
	// module and version are of the instances below, which each succeeded once before the rules were made.
	module, version string
	// live is the deployment that is live in instance, and former the one before it.
	instance, live, former string
	// overriding is another such instance, to be rolled back past the rules, and its former deployment.
	overriding, overridden string
	// bound is the environment of these instances, and packed one with thousands.
	project, bound, packed string
	// waits and rejected are of a page of deployments that wait for approvals, which rule demands.
	waits, rejected, rule string
	// spare is the project of packed, and idle an instance without a deployment.
	spare, idle string
}

// fillRules makes what rules bind, then the rules, and copies records in the database until lists and searches are full.
func (s *server) fillRules(t *testing.T) {
	t.Helper()
	c, closeCaller := newCaller(s, 0)
	defer closeCaller()
	f := filler{t, c}
	ctx, k := f.copier()
	r := &c.stock.ruled

	r.project = f.make("createProject", "project", object{"name": "Ruled", "slug": "ruled"})
	place := func(name string) string {
		return f.make("createEnvironment", "environment", object{"projectId": r.project, "name": name, "slug": name})
	}
	bound, awaiting := place("bound"), place("awaiting")
	r.bound, r.spare = bound, f.make("createProject", "project", object{"name": "Spare", "slug": "spare"})
	r.packed = f.make("createEnvironment", "environment", object{"projectId": r.spare, "name": "packed", "slug": "packed"})
	r.module = f.make("createModuleDefinition", "moduleDefinition", object{"name": "R", "type": "ruled", "status": "ACTIVE"})
	r.version = f.make("publishModuleVersion", "moduleVersion", object{
		"moduleDefinitionId": r.module, "version": "1.0.0", "deploymentType": "terraform", "inputs": wrapped(`[{"id":"t","label":"L","type":"text"}]`),
	})
	r.instance, r.live, r.former = f.succeed(ctx, k, bound, "replayed")
	r.overriding, _, r.overridden = f.succeed(ctx, k, bound, "overridden")
	previous, live, former := f.succeed(ctx, k, place("previous"), "previous")
	f.rules(awaiting)
	r.idle = f.instanceIn(bound, "idle")
	awaited := object{"moduleInstanceId": f.instanceIn(awaiting, "awaited"), "moduleVersionId": r.version, "inputs": object{}}
	r.waits, r.rejected = f.make("createDeployment", "deployment", awaited), f.make("createDeployment", "deployment", awaited)

	k.multiply(ctx, deployment.Table, deployment.Columns, r.waits, id.Deployment, listed-2, nil)
	k.crowd(ctx, r, previous, live, former)
}

// crowd copies records until there are more than a search looks through, and instances with earlier deployments.
func (k copier) crowd(ctx context.Context, r *ruled, previous, live, former string) {
	k.t.Helper()
	long := "'" + strings.Repeat("n", 190) + "' || {i}"
	k.multiply(ctx, project.Table, project.Columns, r.project, id.Project, crowded, differing{"name": long, "slug": `'n' || {i}`})
	k.multiply(ctx, environment.Table, environment.Columns, r.packed, id.Environment, crowded, differing{"name": long, "slug": `'n' || {i}`})
	k.multiply(ctx, moduledefinition.Table, moduledefinition.Columns, r.module, id.ModuleDefinition, crowded, differing{
		"name": long, "search_text": long, "type": `'n' || {i}`, "latest_version": "NULL", "latest_version_id": "NULL",
	})
	idle := func(name, projectID, environmentID string) differing {
		return differing{"name": "'" + name + "-' || {i}", "live_deployment_id": "NULL", "environment_id": "'" + environmentID + "'", "project_id": "'" + projectID + "'"}
	}
	k.multiply(ctx, moduleinstance.Table, moduleinstance.Columns, r.instance, id.ModuleInstance, packed, idle("packed", r.spare, r.packed))
	k.multiply(ctx, moduleinstance.Table, moduleinstance.Columns, r.instance, id.ModuleInstance, crowded-packed, idle("filler", r.project, r.bound))

	// Of each the live release is another than that of all the deployments before.
	instances := k.multiply(ctx, moduleinstance.Table, moduleinstance.Columns, previous, id.ModuleInstance, listed,
		differing{"name": `'previous-' || {i}`, "live_deployment_id": "NULL"})
	of := func(number string) differing { return differing{"module_instance_id": numbered(instances, number)} }
	k.multiply(ctx, deployment.Table, deployment.Columns, former, id.Deployment, listed*earlier, of("({i} % 100) + 1"))
	k.multiply(ctx, deployment.Table, deployment.Columns, former, id.Deployment, listed, differing{"override": "'" + wideOverride + "'"})
	last := k.multiply(ctx, deployment.Table, deployment.Columns, live, id.Deployment, listed, of("{i}"))
	k.exec(ctx, fmt.Sprintf(`UPDATE "module_instances" SET "live_deployment_id" = '%s' || substr("id", length("id") - 4) WHERE "id" LIKE '%s%%'`, last, instances))
}

// succeed makes an instance in an environment and two deployments of different inputs that have succeeded, the second of
// which is live.
func (f filler) succeed(ctx context.Context, k copier, environmentID, name string) (instance, live, former string) {
	f.t.Helper()
	instance = f.instanceIn(environmentID, name)
	deploy := func(text string) string {
		made := f.make("createDeployment", "deployment", object{
			"moduleInstanceId": instance, "moduleVersionId": f.c.stock.ruled.version, "inputs": object{"t": text},
		})
		k.tx(ctx, func(ctx context.Context, tx *ent.Tx) error {
			at := time.Now().UTC()
			err := tx.Deployment.UpdateOneID(made).SetStatus(deployment.StatusSUCCEEDED).SetStartedAt(at).SetCompletedAt(at).Exec(ctx)
			if err != nil {
				return err
			}
			return tx.ModuleInstance.UpdateOneID(instance).SetLiveDeploymentID(made).Exec(ctx)
		})
		return made
	}
	former = deploy("former")
	return instance, deploy("live"), former
}

func (f filler) instanceIn(environmentID, name string) string {
	f.t.Helper()
	return f.make("createModuleInstance", "moduleInstance", object{
		"environmentId": environmentID, "moduleDefinitionId": f.c.stock.ruled.module, "name": name,
	})
}

// rules makes rules of hours for everything in the organization, and rules that demand approvals in an environment.
func (f filler) rules(awaiting string) {
	f.t.Helper()
	every := []string{"CREATE", "PROMOTE", "REDEPLOY", "ROLLBACK", "DESTROY"}
	for i := range hourRules {
		f.make("createRule", "rule", object{
			"name": fmt.Sprintf("%s %d", strings.Repeat("h", 190), i), "operations": every, "overridable": true,
			"demand": object{"hours": object{"timeZone": timeZones[i%len(timeZones)], "spans": spans(i)}},
		})
	}
	f.c.stock.ruled.rule = f.make("createRule", "rule", object{
		"name": "approved", "environmentId": awaiting, "operations": every, "demand": object{"approvals": object{"count": 5, "role": "DEVELOPER"}},
	})
}

// spans are as many as a rule may have. The first half of the rules is open nearly always, the second hardly ever, and so
// that no two of a zone agree.
func spans(i int) []object {
	days := []string{"SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"}
	all := make([]object, 14)
	for k := range all {
		from := k * 100
		to := from + 99
		if i >= hourRules/2 {
			from += i % 97
			to = from + 1
		}
		all[k] = object{"days": days, "from": clock(from), "to": clock(to)}
	}
	return all
}

// wideOverride is of all rules of hours.
var wideOverride = `{"by":"admin","at":"2026-01-02T03:04:05Z","reason":"` + strings.Repeat("r", 500) + `","requirements":` +
	list(hourRules, `"Rule %d `+strings.Repeat("h", 190)+`: closed at this time in America/New_York, opens at 2026-01-02T03:04:05Z."`) + "}"

func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// timeZones are some of those whose clocks change, and of those whose clocks do not.
var timeZones = slices.Concat(
	zonesIn("Africa", "Abidjan Accra Addis_Ababa Algiers Cairo Casablanca Ceuta El_Aaiun Harare Johannesburg Lagos Maputo Nairobi Tripoli Tunis Windhoek"),
	zonesIn("America", "Adak Anchorage Asuncion Bogota Boise Caracas Chicago Denver Detroit Dawson Edmonton Godthab Halifax Havana Inuvik Jamaica "+
		"Juneau La_Paz Lima Los_Angeles Managua Manaus Mexico_City Miquelon Moncton Montevideo New_York Nome Panama Phoenix Regina Santiago Sao_Paulo "+
		"Sitka St_Johns Tijuana Toronto Vancouver Winnipeg Yakutat"),
	zonesIn("Asia", "Almaty Amman Baghdad Baku Beirut Colombo Damascus Dhaka Dubai Famagusta Gaza Hebron Hong_Kong Jakarta Jerusalem Kabul Karachi "+
		"Kathmandu Kolkata Manila Nicosia Riyadh Seoul Shanghai Singapore Tashkent Tbilisi Tehran Thimphu Tokyo Yangon Yerevan"),
	zonesIn("Australia", "Adelaide Brisbane Darwin Eucla Hobart Lord_Howe Melbourne Perth Sydney"),
	zonesIn("Europe", "Amsterdam Athens Belgrade Berlin Brussels Bucharest Budapest Chisinau Dublin Helsinki Istanbul Kiev Lisbon London Madrid "+
		"Minsk Moscow Oslo Paris Prague Riga Rome Samara Sofia Stockholm Tallinn Vienna Vilnius Warsaw Zurich"),
	zonesIn("Pacific", "Apia Auckland Chatham Easter Fiji Galapagos Guam Honolulu Kiritimati Marquesas Norfolk Tongatapu"),
)

func zonesIn(part, names string) (all []string) {
	for _, name := range strings.Fields(names) {
		all = append(all, part+"/"+name)
	}
	return all
}

// differing are the columns of a copy that differ, as expressions of its number {i}, which counts from 1.
type differing map[string]string

// multiply copies a row n times. Each copy has an id of its own, which is the stem that it returns and the number of the copy;
// those of a hundred are younger than those of the hundred before.
func (k copier) multiply(ctx context.Context, table string, columns []string, of string, kind id.Kind, n int, differs differing) (stem string) {
	k.t.Helper()
	stem = id.New(kind)
	stem = stem[:len(stem)-5]
	values := make([]string, len(columns))
	for i, column := range columns {
		value, isOther := differs[column]
		switch {
		case isOther:
			values[i] = value
		case column == "id":
			values[i] = numbered(stem, "{i}")
		case column == "created_at":
			values[i] = "$2"
		default:
			values[i] = `"of"."` + column + `"`
		}
	}

	text := fmt.Sprintf(`WITH RECURSIVE "n"("i") AS (SELECT {from} UNION ALL SELECT "i" + 1 FROM "n" WHERE "i" < {to})
INSERT INTO %q (%s) SELECT %s FROM %q AS "of", "n" WHERE "of"."id" = $1`, table, `"`+strings.Join(columns, `", "`)+`"`, strings.Join(values, ", "), table)
	text = strings.ReplaceAll(text, "{i}", `"n"."i"`)
	at := time.Now().UTC()
	for from := 1; from <= n; from += listed {
		at = at.Add(time.Millisecond)
		part := strings.NewReplacer("{from}", fmt.Sprint(from), "{to}", fmt.Sprint(min(from+listed-1, n)))
		k.exec(ctx, part.Replace(text), of, at)
	}
	return stem
}

// numbered returns the expression of an id of a stem and a number, which has five digits there.
func numbered(stem, number string) string {
	return "'" + stem + "' || substr(CAST(100000 + " + number + " AS text), 2)"
}

func (k copier) exec(ctx context.Context, text string, args ...any) {
	k.t.Helper()
	k.tx(ctx, func(ctx context.Context, tx *ent.Tx) error {
		_, err := tx.ExecContext(ctx, text, args...)
		return err
	})
}
