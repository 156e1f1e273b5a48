package attacktest_test

import "slipway/internal/base/actor"

// searches are attacks by texts that are looked for in vain, and by places with much in them that are archived.
func searches() (all []attack) {
	for _, list := range []struct{ name, field string }{
		{"projects", `projects(filter: {search: "zzz"}) { totalCount nodes { id } }`},
		{"environments", `environments(filter: {search: "zzz"}) { totalCount nodes { id } }`},
		{"module instances", `moduleInstances(filter: {search: "zzz"}) { totalCount nodes { id } }`},
		{"module definitions", `moduleDefinitions(filter: {search: "zzz"}) { totalCount nodes { id } }`},
	} {
		all = append(all,
			lists("a search of 10,000 "+list.name, within, actor.Viewer, aliased(1, list.field)),
			lists("28 searches of 10,000 "+list.name, bounded, actor.Viewer, aliased(28, list.field)),
		)
	}
	all = append(all,
		lists("29 counts of 10,000 module instances", within, actor.Viewer, aliased(29, "moduleInstances(first: 1) { totalCount }")),
		lists("29 counts of 10,000 projects", within, actor.Viewer, aliased(29, "projects(first: 1) { totalCount }")),
	)
	packed := func(s stock) object { return object{"e": s.ruled.packed} }
	const archive = "mutation($e: ID!) {"
	again := each(14, " a%d: archiveEnvironment(input: {id: $e, acknowledgeLive: true, acknowledgeDependents: true}) { environment { id } }"+
		" u%[1]d: unarchiveEnvironment(input: {id: $e}) { environment { id } }")
	return append(all,
		probe("4,000 instances archived and unarchived 14 times", bounded, actor.Admin, archive+again+" }", packed),
		probe("4,000 instances archived, and again", within, actor.Admin, archive+
			each(29, " a%d: archiveEnvironment(input: {id: $e, acknowledgeLive: true, acknowledgeDependents: true}) { environment { id } }")+" }", packed),
	)
}
