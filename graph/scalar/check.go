package scalar

import (
	"fmt"
	"regexp"
	"time"

	"slipway/internal/gqlhttp/document"
	"slipway/internal/strictjson"
	"slipway/internal/textrules"
)

// Checks are what the schema's own scalars have against values, by the scalars' names. They refuse,
// before anything runs, all that the decoders here would refuse.
func Checks() map[string]document.Check {
	return map[string]document.Check{"GivenId": checkGivenID, "JSON": checkJSON, "UtcDateTime": checkUtcDateTime}
}

func checkJSON(v any) error {
	if _, err := strictjson.FromValue(v); err != nil {
		return fmt.Errorf("must be a JSON value, but %w", err)
	}
	return nil
}

func checkGivenID(v any) error {
	if text, ok := v.(string); !ok || !textrules.IsGivenID(text) {
		return fmt.Errorf("must be a GivenId, %s, found %s", textrules.GivenIDForm, found(v))
	}
	return nil
}

func checkUtcDateTime(v any) error {
	_, err := utcDateTime(v)
	return err
}

var rfc3339UTC = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$`)

func utcDateTime(v any) (time.Time, error) {
	text, ok := v.(string)
	if ok && rfc3339UTC.MatchString(text) {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("must be a UtcDateTime, an RFC 3339 time in UTC such as 2026-03-01T09:30:00Z, found %s", found(v))
}

// found names a value without repeating more of it than helps.
func found(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%.80q", v)
	case bool:
		return "a boolean"
	case document.EnumLiteral:
		return "the enum value " + fmt.Sprintf("%.80s", string(v))
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case strictjson.Node:
		if v.Kind == strictjson.Array {
			return "a list"
		}
		return v.Kind.String()
	default:
		return "a number"
	}
}
