package inputprop

import "slipway/internal/strictjson"

// keys judges the keys of a map, one entry after the other.
type keys struct {
	config *MapKeyConfig
	// taken are the computed keys so far, with the places of their entries.
	taken map[string]string
}

// keys is nil where the field is no map.
func (v *validator) keys(fl *field) *keys {
	if fl.in.Nested.Collection != strictjson.Object {
		return nil
	}
	return &keys{fl.in.Nested.Key, map[string]string{}}
}

func (k *keys) check(j *validator, e *entry) {
	key, from := e.given, k.config.Sources()
	j.PushNames(from...)
	defer j.PopNames(from...)
	if len(from) > 0 {
		if e.level == nil {
			return
		}
		if key = e.computed; key == "" {
			if !j.saving {
				j.Fail("key_empty", "must have a value for one of %s, of which its key is made", strictjson.Listing(from))
			}
			return
		}
		if place, taken := k.taken[key]; taken {
			j.Fail("key_unique", "must have a key of its own, found %s as of %s", strictjson.ShowText(key), place)
			return
		}
		k.taken[key] = j.LocalPointer()
	}
	if key == "" {
		j.Fail("key_empty", "must have a key that is not empty")
		return
	}
	var patterns []ValidationPattern
	if k.config != nil && (len(from) == 0 || !e.level.isUnresolved(from...)) {
		patterns = k.config.Patterns
	}
	j.text(key, patterns)
}
