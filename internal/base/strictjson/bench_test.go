package strictjson_test

import (
	"bytes"
	"testing"

	"slipway/internal/base/strictjson"
)

// list is an array of objects of about 64 KB.
var list = append(append([]byte(`[`), bytes.Repeat([]byte(`{"b":1.50,"a":["text",true,null],"name":"é \n"},`), 1400)...), `{}]`...)

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(list)))
	for b.Loop() {
		if _, err := strictjson.Parse(list); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	node := strictjson.MustParse(string(list))
	b.ReportAllocs()
	b.SetBytes(int64(len(list)))
	for b.Loop() {
		strictjson.Canonical(node)
	}
}
