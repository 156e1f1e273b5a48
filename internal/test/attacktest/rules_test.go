package attacktest_test

import (
	"strings"

	"slipway/internal/base/actor"
)

// ruling are attacks on what rules bind, in an organization with as many as may be.
func ruling() []attack {
	return concat(refusedByRules(), plannedUnderRules(), listedUnderRules())
}

// What rules refuse.
const (
	closed      = "200 Environment:CLOSED"
	inProgress  = "200 Deployment:IN_PROGRESS"
	rollBack    = "rollbackDeployment(input: {id: $d}) { deployment { id } }"
	deployAgain = "redeployDeployment(input: {id: $d}) { deployment { id } }"
	deployAnew  = "createDeployment(input: {moduleInstanceId: $n, moduleVersionId: $v, inputs: {}}) { deployment { id } }"
	goPast      = `rollbackDeployment(input: {id: $d, overrideReason: "a good reason"}) { deployment { override { requirements } } }`
)

// refusedByRules are attacks by mutations.
func refusedByRules() (all []attack) {
	former := func(s stock) object { return object{"d": s.ruled.former} }
	live := func(s stock) object { return object{"d": s.ruled.live} }
	anew := func(s stock) object { return object{"n": s.ruled.instance, "v": s.ruled.version} }
	overridden := func(s stock) object { return object{"d": s.ruled.overridden} }
	for _, refused := range []struct {
		name, declared, field string
		variables             func(stock) object
	}{
		{"rollback", "mutation($d: ID!) ", rollBack, former},
		{"redeployment", "mutation($d: ID!) ", deployAgain, live},
		{"deployment", "mutation($n: ID!, $v: ID!) ", deployAnew, anew},
	} {
		all = append(all,
			probe("a "+refused.name+" that 190 rules refuse", closed, actor.Admin, refused.declared+aliased(1, refused.field), refused.variables),
			probe("29 times a "+refused.name+" that 190 rules refuse", closed+"|"+bounded, actor.Admin, refused.declared+aliased(29, refused.field), refused.variables),
		)
	}
	return append(all,
		probe("a rollback past 190 rules", "200|"+inProgress, actor.Admin, "mutation($d: ID!) "+aliased(1, goPast), overridden),
		probe("29 times a rollback past 190 rules", inProgress+"|"+bounded, actor.Admin, "mutation($d: ID!) "+aliased(29, goPast), overridden),
	)
}

// plannedUnderRules are attacks by plans of what rules bind.
func plannedUnderRules() (all []attack) {
	const told = " { refusal { message } requirements { met message at rule { name } } warnings { message } }"
	once := func(s stock) object {
		return object{"r": object{"rollback": object{"id": s.ruled.former}}, "p": object{"redeploy": object{"id": s.ruled.live}},
			"c": object{"create": object{"moduleInstanceId": s.ruled.instance, "moduleVersionId": s.ruled.version, "inputs": object{}}}}
	}
	const declared = "query($r: DeploymentPlanInput!, $p: DeploymentPlanInput!, $c: DeploymentPlanInput!) "
	one := strings.ReplaceAll("r: deploymentPlan(input: $r)# p: deploymentPlan(input: $p)# c: deploymentPlan(input: $c)#", "#", told)
	return []attack{
		probe("three plans under 190 rules", within, actor.Viewer, declared+"{ "+one+" }", once),
		probe("a plan of a rollback under 190 rules 29 times", within, actor.Viewer, "query($r: DeploymentPlanInput!) "+aliased(29, "deploymentPlan(input: $r)"+told),
			func(s stock) object { return object{"r": once(s)["r"]} }),
		probe("a plan of a deployment under 190 rules 29 times", within, actor.Viewer, "query($c: DeploymentPlanInput!) "+aliased(29, "deploymentPlan(input: $c) { token }"),
			func(s stock) object { return object{"c": once(s)["c"]} }),
	}
}

// listedUnderRules are attacks by lists of what rules bind.
func listedUnderRules() []attack {
	const (
		judged     = "{ requirements(operation: ROLLBACK) { met message at rule { name } } }"
		eligible   = "{ nodes { rollbackEligibility { refusal { message } } redeployEligibility { refusal { message } } } }"
		startable  = "{ approveEligibility { refusal { message } } startEligibility { refusal { message } } }"
		waiting    = "deployments(first: 100, filter: {statuses: AWAITING_APPROVAL}) { nodes "
		mine       = "deployments(first: 100, filter: {awaitingMyApproval: true}) { totalCount nodes { id } }"
		promotable = "moduleInstances(first: 100) { nodes { promotable(first: 100) { nodes { id } } } }"
		previous   = `moduleInstances(first: 100, filter: {search: "previous"}) { nodes { previousDeployment { id status } } }`
	)
	return []attack{
		lists("what 190 rules come to in 100 environments", within, actor.Viewer, aliased(1, "environments(first: 100) { nodes "+judged+" }")),
		lists("what 190 rules come to in 100 environments, in short", within, actor.Viewer, aliased(1, "environments(first: 100) { nodes { requirements { met } } }")),
		lists("what 190 rules come to in 100 environments 12 times", bounded, actor.Viewer, aliased(12, "environments(first: 100) { nodes { requirements { met } } }")),
		lists("what 190 rules come to in 100 environments for five operations twice", within, actor.Viewer, "{ environments(first: 100) { nodes {"+
			each(2, " c%[1]d: requirements { met } p%[1]d: requirements(operation: PROMOTE) { met } r%[1]d: requirements(operation: REDEPLOY) { met }"+
				" b%[1]d: requirements(operation: ROLLBACK) { met } d%[1]d: requirements(operation: DESTROY) { met }")+" } } }"),
		lists("the rules of 100 environments", within, actor.Viewer, aliased(1, "environments(first: 100) { nodes { rules(first: 100) { nodes { id name } } } }")),
		lists("100 rules 7 times", within, actor.Viewer, aliased(7, "rules(first: 100) { nodes { name operations demand { ... on HoursDemand { timeZone spans { days from to } } } } }")),
		lists("eligibilities of 100 deployments under 190 rules", within, actor.Admin, aliased(1, "deployments(first: 100) "+eligible)),
		lists("eligibilities of 100 deployments under 190 rules 29 times", bounded, actor.Admin, aliased(29, "deployments(first: 100) "+eligible)),
		lists("what 100 deployments wait for", within, actor.Viewer, aliased(1, waiting+"{ requirements { met message needed given } } }")),
		lists("what 100 deployments wait for 12 times", bounded, actor.Viewer, aliased(12, waiting+"{ requirements { met } } }")),
		lists("whether 100 deployments could be approved or started", within, actor.Admin, aliased(1, waiting+startable+" }")),
		lists("whether 100 deployments could be approved or started 29 times", bounded, actor.Admin, aliased(29, waiting+startable+" }")),
		lists("whether 100 deployments could be approved", within, actor.Admin, aliased(1, waiting+"{ approveEligibility { allowed } } }")),
		lists("whether 100 deployments could be started", within, actor.Admin, aliased(1, waiting+"{ startEligibility { allowed } } }")),
		lists("100 overrides of 190 rules", within, actor.Viewer, aliased(1, "deployments(first: 100, filter: {overridden: true}) { nodes { override { createdBy { name } reason requirements } } }")),
		lists("100 overrides of 190 rules 29 times", bounded, actor.Viewer, aliased(29, "deployments(first: 100, filter: {overridden: true}) { nodes { override { reason } } }")),
		lists("what awaits one's approval 29 times", within, actor.Developer, aliased(29, mine)),
		lists("what could be promoted to 100 instances 12 times", within, actor.Viewer, aliased(12, promotable)),
		lists("what 100 instances go back to 28 times", within, actor.Viewer, aliased(28, previous)),
	}
}
