// Package event has the events of a deployment: the steps that its runner reports while it is carried out.
// A deployment of any type has them. Nobody waits for an event and nothing is decided by one; they are
// evidence for people, so their texts stay as the program wrote them, and a deployment that reports
// without end keeps the newest and counts the rest (Append).
package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"slipway/internal/fault"
	"slipway/internal/textrules"
)

// How many events of a deployment are kept, and how many bytes of JSON they may have together.
const (
	MaxCount = 200
	MaxBytes = 256 << 10
)

// MaxText is how many characters a text of an event may have.
const MaxText = 4096

// Event is one step in the course of a deployment. What is nil is not known and is left out of the JSON.
type Event struct {
	CurrentStep *int32 `json:"currentStep,omitzero"`
	TotalSteps  *int32 `json:"totalSteps,omitzero"`
	// StartedAt is a UTC date-time (RFC 3339 with Z) as it was sent.
	StartedAt      *string `json:"startedAt,omitzero" rules:"format=utc_time"`
	DesiredCount   *int32  `json:"desiredCount,omitzero"`
	HookID         *string `json:"hookId,omitzero"`
	LifecycleStage *string `json:"lifecycleStage,omitzero"`
	Message        *string `json:"message,omitzero"`
}

// Members are the names of an event's members in JSON, in order.
var Members = members()

func members() []string {
	t := reflect.TypeFor[Event]()
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// Check returns what is wrong with an event that a runner reports; the pointers start with at. An event
// has at least one member. Its texts are evidence, so only their length is bounded.
func (e Event) Check(at string) []fault.Violation {
	var violations []fault.Violation
	if e == (Event{}) {
		violations = append(violations, fault.Violation{Pointer: at, Rule: "required", Message: "must have at least one field, found none"})
	}
	for _, text := range []struct {
		member string
		value  *string
	}{{"message", e.Message}, {"hookId", e.HookID}, {"lifecycleStage", e.LifecycleStage}} {
		if text.value != nil {
			violations = append(violations, textrules.Length(at+"/"+text.member, *text.value, MaxText)...)
		}
	}
	return violations
}

// countBytes is more than the event has that says how many were folded.
const countBytes = 128

// Append adds new events to the kept ones, in order. Where that is too much, the oldest are folded into one
// event that has their number; folded is that number before the call, foldedNow after it. The newest event
// is kept, however large it is. The kept events themselves are not changed.
func Append(kept []Event, folded int32, news ...Event) (all []Event, foldedNow int32) {
	var since *string
	if folded > 0 {
		since, kept = kept[0].StartedAt, kept[1:]
	}
	all = append(kept[:len(kept):len(kept)], news...)
	bytes := size(all)
	if folded == 0 && len(all) <= MaxCount && bytes <= MaxBytes {
		return all, 0
	}
	for len(all) >= MaxCount || len(all) > 1 && bytes+countBytes > MaxBytes {
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
		panic(fmt.Errorf("event: encode events: %w", err))
	}
	return len(text)
}
