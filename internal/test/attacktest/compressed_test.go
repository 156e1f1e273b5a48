package attacktest_test

import (
	"bytes"
	"context"

	"slipway/internal/base/actor"
)

// compressed are attacks by stored JSON whose answers of many MiB are to be compressed.
func compressed() []attack {
	module := func(s stock) object { return object{"m": s.tiny.module} }
	version := func(s stock) object { return object{"v": s.tiny.version} }
	definition := func(s stock) object { return object{"d": s.tiny.definition} }
	return []attack{
		gzipped("20 versions' inputs as JSON, compressed", "query($m: ID!) { moduleDefinition(id: $m) { versions(first: 20) { nodes { inputsJson } } } }", module),
		gzipped("a version's inputs as JSON 29 times, compressed", "query($v: ID!) "+aliased(29, "moduleVersion(id: $v) { inputsJson }"), version),
		gzipped("a schema as JSON 29 times, compressed", "query($d: ID!) "+aliased(29, "defaultValueDefinition(id: $d) { schemaJson }"), definition),
		gzipped("28 schemas as JSON, compressed", "{ defaultValueDefinitions(first: 28) { nodes { schemaJson } } }", nothing),
		gzipped("28 deployments' data as JSON, compressed", "{ deployments(first: 28, filter: {statuses: FAILED}) { nodes { dataJson } } }", nothing),
		gzipped("20 deployments' data as JSON 29 times, compressed", aliased(29, "deployments(first: 20, filter: {statuses: FAILED}) { nodes { dataJson } }"), nothing),
		gzipped("what was given to 60 deployments, compressed", "{ deployments(first: 60, filter: {statuses: FAILED}) { nodes { givenInputs } } }", nothing),
	}
}

// gzipped is an attack by a list of records whose answer is to be compressed. Its verdict has no codes.
func gzipped(name, query string, variables func(stock) object) attack {
	return allowed(attack{name: name, want: "200|400", query: query, run: func(ctx context.Context, c *caller) (string, error) {
		body, err := operation(query, variables(c.stock))
		if err != nil {
			return "", err
		}
		return c.as(actor.Viewer).send(ctx, request{header: map[string]string{"Accept-Encoding": "gzip"}, body: bytes.NewReader(body)})
	}})
}
