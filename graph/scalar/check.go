package scalar

import (
	"fmt"
	"regexp"
	"time"

	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/edge/gqlhttp/document"
)

// Checks are what the schema's own scalars have against values, by the scalars' names. They refuse,
// before anything runs, all that the decoders here would refuse.
func Checks() map[string]document.Check {
	return map[string]document.Check{"GivenId": checkGivenID, "JSON": checkJSON, "UtcDateTime": checkUtcDateTime}
}

func checkJSON(v document.Value) error {
	if v.Levels() > strictjson.MaxLevels {
		return fmt.Errorf("must be a JSON value, but is nested too deep, at most %d levels are allowed", strictjson.MaxLevels)
	}
	return nil
}

func checkGivenID(v document.Value) error {
	if v.IsEnum || v.Kind != strictjson.String || !textrules.IsGivenID(v.Text) {
		return fmt.Errorf("must be a GivenId, %s, found %s", textrules.GivenIDForm, found(v))
	}
	return nil
}

func checkUtcDateTime(v document.Value) error {
	_, err := utcDateTime(v)
	return err
}

var rfc3339UTC = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$`)

func utcDateTime(v document.Value) (time.Time, error) {
	if !v.IsEnum && v.Kind == strictjson.String && rfc3339UTC.MatchString(v.Text) {
		if t, err := time.Parse(time.RFC3339Nano, v.Text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf(
		"must be a UtcDateTime, an RFC 3339 time in UTC such as 2026-03-01T09:30:00Z, found %s", found(v),
	)
}

// found names a value without repeating more of it than helps.
func found(v document.Value) string {
	switch {
	case v.IsEnum:
		return "the enum value " + fmt.Sprintf("%.80s", v.Text)
	case v.Kind == strictjson.String:
		return fmt.Sprintf("%.80q", v.Text)
	case v.Kind == strictjson.Array:
		return "a list"
	default:
		return v.Kind.String()
	}
}
