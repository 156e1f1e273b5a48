package rule

import (
	"encoding/json"
	"slices"
	"sync"

	"slipway/internal/pure/gate"
)

// maxKept is how many bytes of texts are kept decoded; a list of rules takes some six times as much as its text.
const maxKept = 2 << 20

// kept are the rules of the texts that were decoded last.
var kept = decoded{of: map[string][]gate.Rule{}}

// decoded keeps rules by their texts: most deployments in a place are judged by the same rules, and reading 200 of them
// takes longer than judging them. Its rules are shared, so nobody may change them. It is safe for concurrent use.
type decoded struct {
	mu sync.Mutex
	of map[string][]gate.Rule
	// texts are those that are kept, the oldest first, and bytes how many they have.
	texts []string
	bytes int
}

// rules returns the rules of a text.
func (d *decoded) rules(text string) (list []gate.Rule, err error) {
	d.mu.Lock()
	list, known := d.of[text]
	d.mu.Unlock()
	if known {
		return list, nil
	}

	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	list = slices.Clip(list)
	d.keep(text, list)
	return list, nil
}

// keep keeps the rules of a text, in the place of the oldest that there is no room for any longer.
func (d *decoded) keep(text string, list []gate.Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.of[text]; known || len(text) > maxKept {
		return
	}
	d.of[text], d.texts, d.bytes = list, append(d.texts, text), d.bytes+len(text)

	for d.bytes > maxKept {
		delete(d.of, d.texts[0])
		d.bytes -= len(d.texts[0])
		d.texts = d.texts[1:]
	}
}
