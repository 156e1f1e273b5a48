package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/edge/gqlhttp/wire"
)

func BenchmarkParseBody(b *testing.B) {
	body := []byte(`{"operationName":"A","variables":{"id":"dep_01h455vb4pex5vsknk084sn02q"},` +
		`"query":"query A($id: ID!) { deployment(id: $id) { id organizationId projectId createdAt } }"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.ParseBody(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	data := json.RawMessage(`{"items":[` + string(bytes.Repeat([]byte(`{"id":"dep_01h455vb4pex5vsknk084sn02q"},`), 400)) + `null]}`)
	answer := &graphql.Response{Data: data, Extensions: map[string]any{"cost": map[string]int{"used": 6, "limit": 10_000}}}
	b.ReportAllocs()
	for b.Loop() {
		if len(wire.Encode(answer)) < len(data) {
			b.Fatal("the data is missing")
		}
	}
}
