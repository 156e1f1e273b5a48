package client

import "encoding/json"

// Actor is who did something.
type Actor struct {
	Name string `json:"name"`
	// Kind and TokenID are empty if only the name was asked for.
	Kind    string  `json:"kind,omitempty"`
	TokenID *string `json:"tokenId,omitempty"`
	// Role is that of an approval, empty of others.
	Role string `json:"role,omitempty"`
}

// NameOf returns the name of an actor, "" for nobody.
func NameOf(a *Actor) string {
	if a == nil {
		return ""
	}
	return a.Name
}

// UnmarshalJSON implements json.Unmarshaler. A server from before actors answers with the name alone.
func (a *Actor) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &a.Name)
	}
	type answered Actor
	return json.Unmarshal(text, (*answered)(a))
}
