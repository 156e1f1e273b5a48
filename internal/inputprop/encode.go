package inputprop

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode writes a property as JSON; what is absent is left out. Reading it back gives an equal
// property.
func Encode(p Property) json.RawMessage { return mustMarshal(p) }

// EncodeList writes a list of properties as a JSON array.
func EncodeList(list []Property) json.RawMessage {
	if list == nil {
		list = []Property{}
	}
	return mustMarshal(list)
}

// mustMarshal is for what this package decoded, which always has a JSON form; anything else is a bug
// in the code that made it.
func mustMarshal(v any) json.RawMessage {
	b, err := marshal(v)
	if err != nil {
		panic(fmt.Sprintf("inputprop: %v", err))
	}
	return b
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
