package ecs_test

import (
	"os"
	"testing"

	"slipway/internal/pure/ecs"
)

// Reading the data of a deployment is what its typed form costs over dataJson.
func BenchmarkColumnData(b *testing.B) {
	text, err := os.ReadFile("testdata/full.json")
	if err != nil {
		b.Fatal(err)
	}
	var column ecs.Column
	if err := column.Scan(text); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := column.Data(); err != nil {
			b.Fatal(err)
		}
	}
}
