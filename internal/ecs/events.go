package ecs

import (
	"encoding/json"
	"fmt"
)

// How many events of a deployment are kept, and how many bytes of JSON they may have together.
const (
	MaxEvents     = 200
	MaxEventBytes = 256 << 10
)

// countBytes is more than the event has that says how many were folded.
const countBytes = 128

// Append adds news to the events that are kept, in order. Where that is too much, the oldest are folded
// into one event that says how many they were; folded is that number, before and after. The newest event
// is kept, however large it is.
func Append(kept []Event, folded int32, news ...Event) (all []Event, foldedNow int32) {
	var since *string
	if folded > 0 {
		since, kept = kept[0].StartedAt, kept[1:]
	}
	all = append(kept[:len(kept):len(kept)], news...)
	bytes := size(all)
	if folded == 0 && len(all) <= MaxEvents && bytes <= MaxEventBytes {
		return all, 0
	}
	for len(all) >= MaxEvents || len(all) > 1 && bytes+countBytes > MaxEventBytes {
		if since == nil {
			since = all[0].StartedAt
		}
		bytes -= size(all[:1]) - 1 // one of its brackets was a comma
		all, folded = all[1:], folded+1
	}
	if folded == 0 {
		return all, 0
	}
	message := fmt.Sprintf("%d earlier events are not kept.", folded)
	return append([]Event{{StartedAt: since, Message: &message}}, all...), folded
}

// size is how many bytes of JSON events have.
func size(events []Event) int {
	text, err := json.Marshal(events)
	if err != nil {
		// Events are texts and numbers.
		panic(fmt.Errorf("ecs: encode events: %w", err))
	}
	return len(text)
}
