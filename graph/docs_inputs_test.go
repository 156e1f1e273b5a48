package graph_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// limitBlock is a block of docs/inputs-limits.md: inputs, or values with what becomes of them.
var limitBlock = regexp.MustCompile("(?s)```json(?: (accepted|refused) ?([a-z_]*))?\n(.*?)```")

func TestTheWaysAroundWhatInputsCannotSayWork(t *testing.T) {
	t.Parallel()
	blocks := limitBlock.FindAllStringSubmatch(contentOf(t, "../docs/inputs-limits.md"), -1)
	const document = `query($inputs: [InputPropertyInput!]!, $values: JSON!) {
		validateInputs(input: {inputs: $inputs, values: $values}) { valid violations { rule } }
	}`
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		var inputs []any
		seen := map[string]int{}
		for _, found := range blocks {
			outcome, rule, text := found[1], found[2], strings.TrimSpace(found[3])
			seen[outcome]++
			if outcome == "" {
				inputs = inputsOf(t, text)
				continue
			}

			variables := map[string]any{"inputs": inputs, "values": json.RawMessage(text)}
			body := string(w.GraphQL(t, w.Acme.Tokens[actor.Viewer], document, variables).Body)
			want := `{"valid":true,"violations":[]}`
			if outcome == "refused" {
				want = `{"valid":false,"violations":[{"rule":"` + rule + `"}]}`
			}
			if !strings.Contains(body, want) {
				t.Errorf("%s: want %s, found %s", text, want, body)
			}
		}
		if seen[""] < 8 || seen["accepted"] < seen[""] || seen["refused"] < seen[""] {
			t.Errorf("each of at least 8 examples has accepted and refused values; found %v", seen)
		}
	})
}

// inputsOf returns the inputs of a block, one or a list of them, as GraphQL takes them.
func inputsOf(t *testing.T, text string) (inputs []any) {
	t.Helper()
	if !strings.HasPrefix(text, "[") {
		text = "[" + text + "]"
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, input := range list {
		inputs = append(inputs, map[string]any{"json": input})
	}
	return inputs
}
