package manifest_test

import (
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop/inputtest"
	"slipway/internal/remote/cli/manifest"
)

func TestWithoutMapped(t *testing.T) {
	t.Parallel()
	const net = `{"id":"net","label":"L","type":"$ref:net","mapped_inputs":[{"id":"cidr","label":"L","type":"string","default":"${{ ref.stack.output.cidr }}"},{"id":"zone","label":"L","type":"string","default":"a"}]}`
	inputs := inputtest.MustDecodeList(t, `[`+net+`,{"id":"items","label":"L","type":"object_array","item_inputs":[`+net+`]},{"id":"map","label":"L","type":"object_map","item_inputs":[`+net+`]}]`)
	for values, want := range map[string]string{
		`{"net":"inst_1","cidr":"10","zone":"b"}`:              `{"net":"inst_1","zone":"b"}`,
		`{"cidr":"10","zone":"b"}`:                             `{"cidr":"10","zone":"b"}`,
		`{"net":null,"cidr":"10"}`:                             `{"net":null,"cidr":"10"}`,
		`{"items":[{"net":"inst_1","cidr":"1"},{"cidr":"2"}]}`: `{"items":[{"net":"inst_1"},{"cidr":"2"}]}`,
		`{"map":{"b":{"net":"inst_1","cidr":"1"},"a":null}}`:   `{"map":{"b":{"net":"inst_1"},"a":null}}`,
		`{"other":{"cidr":1.50},"items":"x"}`:                  `{"other":{"cidr":1.50},"items":"x"}`,
	} {
		if got := string(manifest.WithoutMapped(inputs, strictjson.MustParse(values)).JSON()); got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
	}
}
