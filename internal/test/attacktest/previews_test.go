package attacktest_test

import "slipway/internal/base/actor"

// previews are attacks by plans of deployments that take much, or are told at length.
func previews() []attack {
	const (
		redeploy = "query($d: ID!) "
		create   = "query($i: CreateDeploymentInput!) "
		told     = " { ...p }"
		silent   = " { token }"
		planned  = " fragment p on DeploymentPlan { status refusal { message } inputs inputChanges { pointer kind before after } artifactChanges { pointer } warnings { message } }"
	)
	again := "deploymentPlan(input: {redeploy: {id: $d}})"
	anew := "deploymentPlan(input: {create: $i})"
	leaved := func(s stock) object { return object{"d": s.left} }
	large := func(s stock) object { return object{"d": s.large[0]} }
	creating := func(version func(stock) string, inputs any) func(stock) object {
		return func(s stock) object {
			return object{"i": object{"moduleInstanceId": s.idle, "moduleVersionId": version(s), "inputs": inputs, "artifact": object{}}}
		}
	}
	plain, templated := func(s stock) string { return s.plain }, func(s stock) string { return s.templated }
	return []attack{
		probe("12,000 leaves planned", within, actor.Viewer, redeploy+aliased(1, again+told)+planned, leaved),
		probe("12,000 leaves planned 29 times", bounded, actor.Viewer, redeploy+aliased(29, again+told)+planned, leaved),
		probe("12,000 leaves planned 29 times and not told", within, actor.Viewer, redeploy+aliased(29, again+silent), leaved),
		probe("200 KB planned 29 times", within, actor.Viewer, redeploy+aliased(29, again+told)+planned, large),
		probe("200 KB given to 29 plans", within, actor.Viewer, create+aliased(29, anew+told)+planned, creating(plain, object{"o": bulk("x")})),
		probe("18,000 keys given to 29 plans and not told", within, actor.Viewer, create+aliased(29, anew+silent), creating(plain, raw(`{"o":{`+members(18_000, `"%d":1`)+`}}`))),
		probe("2,250 templates of a long name planned 29 times", within, actor.Viewer, create+aliased(29, anew+told)+planned, creating(templated, object{})),
	}
}
