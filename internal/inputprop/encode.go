package inputprop

import (
	"encoding/json"

	"slipway/internal/strictjson"
)

// Encode returns a property as JSON; what is absent is left out. Reading it back gives an equal property.
func Encode(p Property) json.RawMessage { return strictjson.Encode(p) }

// EncodeList returns a list of properties as a JSON array.
func EncodeList(list []Property) json.RawMessage {
	if list == nil {
		list = []Property{}
	}
	return strictjson.Encode(list)
}
