package fault

import "strconv"

// BodyTooLarge is the refusal of a request's body that is longer than most, in bytes; found is its length,
// or negative where that is not known.
func BodyTooLarge(most, found int64) *Error {
	metadata := map[string]any{"limit": "body", "value": most}
	counted := "more than " + strconv.FormatInt(most, 10)
	if found > most {
		counted = strconv.FormatInt(found, 10)
		metadata["found"] = found
	}
	e := New(RequestTooLarge, "The body may have at most %d bytes, found %s.", most, counted)
	e.Metadata = metadata
	return e
}
