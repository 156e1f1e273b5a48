// Package event has the events of a deployment: the steps that its runner reports while it is carried out.
// A deployment of any type has them. Nobody waits for an event and nothing is decided by one; they are
// evidence for people, so their texts stay as the program wrote them, and a deployment that reports
// without end keeps the newest and counts the rest (Append).
package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
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
		violations = append(violations, fault.Violation{
			Pointer: at, Rule: "required", Message: "must have at least one field, found none",
		})
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

// Append adds new events to the kept ones, in order. If that is too much, the oldest are folded into one
// event that has their number; folded is that number before the call, foldedNow after it. The newest event
// is kept, however large it is. The kept events themselves are not changed.
func Append(kept []Event, folded int32, news ...Event) (all []Event, foldedNow int32) {
	since, kept := unfold(kept, folded)
	return fold(append(kept[:len(kept):len(kept)], news...), folded, since)
}

// Replace takes the events of before out of the kept ones, as far as they are there, and puts those of after in by
// their times, behind the others of the same time. Events of both that are not among the kept ones any more, because
// they were folded, stay so. Otherwise it is Append.
func Replace(kept []Event, folded int32, before, after []Event) (all []Event, foldedNow int32) {
	since, kept := unfold(kept, folded)
	rest := slices.Clone(kept)

	var gone []Event
	for _, e := range before {
		if i := slices.IndexFunc(rest, e.equals); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			gone = append(gone, e)
		}
	}

	places := make([][]Event, len(rest)+1) // those that go before each of the rest, and behind the last
	for _, e := range after {
		if i := slices.IndexFunc(gone, e.equals); i >= 0 {
			gone = slices.Delete(gone, i, i+1)
			continue
		}

		at := len(rest)
		for at > 0 && e.time().Before(rest[at-1].time()) {
			at--
		}
		places[at] = append(places[at], e)
	}

	for i, e := range rest {
		all = append(append(all, places[i]...), e)
	}
	return fold(append(all, places[len(rest)]...), folded, since)
}

// FoldAll folds all of the kept events, as Append does with those that are too many.
func FoldAll(kept []Event, folded int32) (all []Event, foldedNow int32) {
	since, rest := unfold(kept, folded)
	for _, e := range rest {
		since, folded = earlier(since, e), folded+1
	}
	return counted(nil, folded, since), folded
}

// equals reports whether two events say the same.
func (e Event) equals(other Event) bool { return reflect.DeepEqual(e, other) }

// time returns when an event began, the zero time where that is not known.
func (e Event) time() time.Time {
	if e.StartedAt == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, *e.StartedAt)
	if err != nil {
		return time.Time{}
	}
	return at
}

// unfold returns the kept events without the one that has the number of those that were folded, and since when these
// were.
func unfold(kept []Event, folded int32) (since *string, rest []Event) {
	if folded == 0 {
		return nil, kept
	}
	return kept[0].StartedAt, kept[1:]
}

// countBytes is more than the event has that says how many were folded.
const countBytes = 128

// fold folds the oldest of the events if they are too many. since is the time of the first that was folded before.
func fold(all []Event, folded int32, since *string) ([]Event, int32) {
	bytes := size(all)
	if folded == 0 && len(all) <= MaxCount && bytes <= MaxBytes {
		return all, 0
	}
	for len(all) >= MaxCount || len(all) > 1 && bytes+countBytes > MaxBytes {
		since = earlier(since, all[0])
		bytes -= size(all[:1]) - 1 // one of its brackets was a comma
		all, folded = all[1:], folded+1
	}
	return counted(all, folded, since), folded
}

// earlier returns when the first of the events was that are folded, with one more.
func earlier(since *string, e Event) *string {
	if since == nil || e.StartedAt != nil && e.time().Before(Event{StartedAt: since}.time()) {
		return e.StartedAt
	}
	return since
}

// counted returns the events that are kept, behind the one that has the number of those that were folded.
func counted(kept []Event, folded int32, since *string) []Event {
	if folded == 0 {
		return kept
	}
	message := fmt.Sprintf("%d earlier events are not kept.", folded)
	return append([]Event{{StartedAt: since, Message: &message}}, kept...)
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
