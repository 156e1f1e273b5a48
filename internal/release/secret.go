package release

import (
	"encoding/json"
	"slices"

	"slipway/internal/secret"
)

// hides reports whether a leaf is to be masked: for where it is, or for what either of its values looks like.
func (p *place) hides(values ...any) bool {
	if slices.ContainsFunc(values, looksSecret) {
		return true
	}
	return (p.secret || secret.IsName(p.name)) && slices.ContainsFunc(values, mayBeSecret)
}

func looksSecret(value any) bool {
	text, isText := value.(string)
	return isText && secret.IsText(text)
}

// mayBeSecret reports whether a value where a secret stands may be the secret: a switch is none.
func mayBeSecret(value any) bool {
	switch v := value.(type) {
	case string:
		return secret.IsValue(v)
	case json.Number:
		return true
	}
	return false
}

// entryNamesSecret reports whether an entry {name, value}, as of an environment, has the name of a secret.
func entryNamesSecret(entry map[string]any) bool {
	name, _ := entry[secret.NameMember].(string)
	return secret.IsName(name)
}

// isEntry reports whether an object has a name for the value that it has or refers to.
func isEntry(object map[string]any) bool {
	_, has := object[secret.ValueMember]
	_, refers := object[secret.ReferenceMember]
	return has || refers
}

// follows reports whether an item of a list, which may not be there, comes after an option with the name of a secret.
func follows(items []any, index int) bool {
	if index < 1 || index >= len(items) {
		return false
	}
	before, _ := items[index-1].(string)
	return secret.IsOption(before)
}
