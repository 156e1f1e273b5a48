package attacktest_test

import (
	"context"
	"fmt"
	"strings"
)

// asks is an attack by a document with variables.
func asks(name, want, query string, variables any) attack {
	return attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) {
		return c.post(ctx, fmt.Sprintf("%s #%d", query, c.round), variables)
	}}
}

// pages are attacks by how much a document wants.
func pages() []attack {
	const (
		literal  = "{ deployments(%s) { nodes { id } } }"
		variable = "query($n: Int) { deployments(first: $n) { nodes { id } } }"
		badPage  = "200 Request:INVALID"
		deep     = "{ deployments(first: 100) { nodes { moduleInstance { deployments(first: 100) { nodes { id } } } } } }"
	)
	page := func(name, want, arguments string) attack {
		return document(name, want, fmt.Sprintf(literal, arguments))
	}
	ids := func(n int) map[string]any {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("dep_%026d", i)
		}
		return map[string]any{"ids": list}
	}
	const byIDs = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
	return []attack{
		page("first: 2^62", invalid, "first: 4611686018427387904"),
		asks("first: 2^62 in a variable", "400 Document:VARIABLES_INVALID", variable, map[string]any{"n": 1 << 62}),
		page("first: 2^31-1", overLimit+"cost", "first: 2147483647"),
		page("last: 2^31-1", overLimit+"cost", "last: 2147483647"),
		page("first: -1", badPage, "first: -1"),
		page("first and last", badPage, "first: 5, last: 5"),
		page("a cursor of 15 KiB", "200 Request:CURSOR_INVALID", `first: 1, after: "`+strings.Repeat("A", 15<<10)+`"`),
		document("pages of pages", overLimit+"cost", deep),
		allowed(document("800 deployments with their data", within, everything)),
		document("2,900 deployments with their data", overLimit+"cost", "{"+each(29, " a%d: deployments(first: 100) { nodes { id dataJson } }")+" }"),
		document("every event of 2,900 deployments", overLimit+"cost", "{"+each(29, " a%d: deployments(first: 100) { nodes { events { message startedAt currentStep totalSteps lifecycleStage } } }")+" }"),
		document("28 plain fields of 2,900 deployments", overLimit+"cost", "{"+each(29, " a%d: deployments(first: 100) { nodes { ...f } }")+" } fragment f on Deployment { "+strings.Repeat("id createdAt updatedAt organizationId projectId environmentId deploymentType ", 4)+"}"),
		allowed(document("pages with every edge", "200", "{"+each(4, " a%d: deployments(first: 100) { nodes { moduleInstance { id } project { id } environment { id } release { id inputs } } }")+" }")),
		asks("nodes of 100 ids", "200 Node:NOT_FOUND", byIDs, ids(100)),
		asks("nodes of 101 ids", "200 Request:INVALID", byIDs, ids(101)),
		asks("nodes of 7,000 ids", "200 Request:INVALID", byIDs, ids(7000)),
		asks("a search of 200 KB", "200 Request:INVALID", "query($s: String) { moduleDefinitions(filter: {search: $s}) { totalCount } }", map[string]any{"s": strings.Repeat("x", 200_000)}),
		asks("a search of wild cards", "200", "query($s: String) { moduleDefinitions(filter: {search: $s}) { totalCount } }", map[string]any{"s": strings.Repeat("%_", 50)}),
		document("30 lists under aliases", "200", "{"+each(30, " a%d: auditEvents(first: 100) { nodes { id } }")+" }"),
		{name: "new documents that fill the cache", want: "200", requests: 2000, run: fill},
	}
}

// everything is more than the system's buffers of a connection hold.
var everything = "{" + each(8, " a%d: deployments(first: 100) { nodes { id dataJson } }") + " }"

// fill sends valid documents that are all different, each with some hundred tokens.
func fill(ctx context.Context, c *caller) (string, error) {
	query := "{ viewer {" + strings.Repeat(" name", 300) + " } }"
	return flood(2000, 4, func(i int) (string, error) {
		return c.post(ctx, fmt.Sprintf("%s #%d.%d", query, c.round, i), nil)
	})
}
