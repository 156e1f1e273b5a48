package attacktest_test

import (
	"context"

	"slipway/internal/base/actor"
)

// records are attacks by lists of large records.
func records() []attack {
	return []attack{
		lists("long descriptions of modules under 29 aliases", bounded, actor.Viewer,
			aliased(29, "moduleDefinitions(first: 100) { nodes { description } }")),
		lists("every module 29 times for a stranger", within+"|200 Request:UNAUTHENTICATED", anonymous, aliased(29, "moduleDefinitions(first: 100) { nodes { name description versions { totalCount } } }")),
		lists("long descriptions of modules 25 times each", bounded, actor.Viewer,
			"{ moduleDefinitions(first: 100) { nodes {"+each(25, " a%d: description")+" } } }"),
		lists("20 schemas of 200 KB", within, actor.Viewer, "{ defaultValueDefinitions(first: 20) { nodes { schemaJson } } }"),
		lists("20 schemas of 200 KB under 29 aliases", bounded, actor.Viewer,
			aliased(29, "defaultValueDefinitions(first: 20) { nodes { schemaJson } }")),
		lists("20 schemas of 200 KB with every option", within, actor.Viewer,
			"{ defaultValueDefinitions(first: 20) { nodes { schema { ... on StringProperty { values { ... on StaticValues { options { value label description } } } } } } } }"),
		lists("releases of 200 KB", within, actor.Viewer, "{ deployments(first: 25) { nodes { release { inputs } } } }"),
		lists("releases of 200 KB under 29 aliases", bounded, actor.Viewer, aliased(29, "deployments(first: 25) { nodes { release { inputs artifact } } }")),
		lists("releases of 200 KB by a way there and back", bounded, actor.Viewer,
			"{ deployments(first: 25) { nodes { moduleInstance { environment { moduleInstances(first: 25) { nodes { deployments(first: 1) { nodes { release { inputs } } } } } } } } } }"),
		lists("inputs of 200 KB that were given, under 29 aliases", bounded, actor.Viewer, aliased(29, "deployments(first: 25) { nodes { givenInputs } }")),
		allowed(probe("100 of 1,000 references 29 times", within, actor.Viewer, "query($d: ID!) "+
			aliased(29, "deployment(id: $d) { references(first: 100) { nodes { pointer moduleInstance { name } readDeployment { id } } } }"), func(s stock) object { return object{"d": s.referring} })),
		lists("the changes of 100 audit events under 29 aliases", within, actor.Admin, aliased(29, "auditEvents(first: 100) { nodes { changes } }")),
		lists("the inputs of versions under 29 aliases", within, actor.Viewer,
			aliased(29, "moduleDefinitions(first: 5) { nodes { versions(first: 5) { nodes { inputsJson } } } }")),
		lists("counts under 29 aliases", within, actor.Viewer, aliased(29, "deployments(first: 1) { totalCount }")),
		lists("lineages and eligibility under 24 aliases", within, actor.Viewer,
			aliased(24, "deployments(first: 20) { nodes { lineage { nodes { id } } rollbackEligibility { refusal { message } blockedBy { id } } redeployEligibility { allowed } } }")),
		lists("eligibilities of 100 deployments under 29 aliases, for who may not deploy", within, actor.Viewer, aliased(29, eligible)),
		lists("eligibilities of 100 deployments under 29 aliases", within, actor.Developer, aliased(29, eligible)),
		lists("eligibilities of 100 deployments under 8 aliases", within, actor.Developer, aliased(8, eligible)),
		{
			name: "a stream of releases of 200 KB under 29 aliases", want: bounded, cpu: recordsCPU, why: ofRecords,
			run: func(ctx context.Context, c *caller) (string, error) { return c.streamed(ctx, manyReleases) },
		},
		{
			name: "a socket's answer of releases of 200 KB under 29 aliases", want: "(error|next) (" + costly + "|" + lengthy + ")", cpu: recordsCPU, why: ofRecords,
			run: onSocket(func(_ *caller, p *peer) string {
				p.say(subscribe("a", manyReleases))
				return p.hear()
			}),
		},
	}
}

const eligible = "deployments(last: 100) { nodes { rollbackEligibility { allowed } redeployEligibility { allowed } } }"

var manyReleases = aliased(29, "deployments(first: 25) { nodes { release { inputs } } }")

// streamed asks for an operation as an event stream and returns the verdict of its first event.
func (c *caller) streamed(ctx context.Context, query string) (string, error) {
	conn, err := c.stream(ctx, query)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	return firstEvent(conn)
}
