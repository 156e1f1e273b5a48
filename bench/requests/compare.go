package requests

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"slipway/internal/base/id"
)

// What is wanted is JSON as encoding/json decodes it, or one of these: a time.Time is a date-time of that instant, and
// json.RawMessage is a value that equals it.
type (
	// anyText is a text that is not empty.
	anyText struct{}
	// newID is the id of a record of a kind.
	newID id.Kind
	// now is a date-time of the last hour.
	now struct{}
	// partOf is an object that may have other members.
	partOf object
)

// compare returns what differs first between what is wanted at a path of an answer and what is there.
func compare(path string, want, got any) error {
	differs := func(what any) error {
		text, err := json.Marshal(got)
		if err != nil {
			return err
		}
		return fmt.Errorf("%s is to be %v and is %.200s", path, what, text)
	}

	text, isText := got.(string)
	switch want := want.(type) {
	case object:
		return compareMembers(path, want, got, true)
	case partOf:
		return compareMembers(path, want, got, false)
	case []any:
		return compareItems(path, want, got)
	case anyText:
		if text == "" {
			return differs("a text")
		}
	case newID:
		if !id.Of(id.Kind(want), text) {
			return differs("a new id of " + want)
		}
	case time.Time:
		if !isTime(text, want.Equal) {
			return differs(want.Format(time.RFC3339Nano))
		}
	case now:
		if !isTime(text, func(at time.Time) bool { return time.Since(at).Abs() <= time.Hour }) {
			return differs("a time of the last hour")
		}
	case json.RawMessage:
		var value any
		if err := json.Unmarshal(want, &value); err != nil {
			return err
		}
		return compare(path, value, got)
	case string:
		if !isText || text != want {
			return differs(want)
		}
	default:
		if want != got {
			return differs(want)
		}
	}

	return nil
}

// isTime reports whether a text is a date-time that a condition holds of.
func isTime(text string, holds func(time.Time) bool) bool {
	at, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && holds(at)
}

func compareMembers(path string, want map[string]any, got any, whole bool) error {
	members, ok := got.(object)
	if !ok {
		return fmt.Errorf("%s is to be an object and is %.200v", path, got)
	}
	if whole && len(members) != len(want) {
		return fmt.Errorf(
			"%s is to have %v and has %v", path, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(members)),
		)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := members[name]; !ok {
			return fmt.Errorf("%s has no %s", path, name)
		}
		if err := compare(path+"."+name, want[name], members[name]); err != nil {
			return err
		}
	}
	return nil
}

func compareItems(path string, want []any, got any) error {
	items, ok := got.([]any)
	if !ok || len(items) != len(want) {
		return fmt.Errorf("%s is to have %d items and is %.200v", path, len(want), got)
	}
	for i := range want {
		if err := compare(fmt.Sprintf("%s[%d]", path, i), want[i], items[i]); err != nil {
			return err
		}
	}
	return nil
}
