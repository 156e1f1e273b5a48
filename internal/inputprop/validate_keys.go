package inputprop

// keys judges the keys of a map, one entry after the other.
type keys struct {
	config *MapKeyConfig
	// taken are the computed keys so far, with the places of their entries.
	taken map[string]string
}

// keys is nil where the field is no map.
func (j *judge) keys(fl *field) *keys {
	p, ok := fl.in.Property.(*ObjectMapProperty)
	if !ok {
		return nil
	}
	return &keys{p.Key, map[string]string{}}
}

func (k *keys) judge(j *judge, e *entry) {
	key, from := e.given, k.config.sources()
	j.name(from...)
	defer j.rename(from...)
	if len(from) > 0 {
		if e.form == nil {
			return
		}
		if key = e.computed; key == "" {
			if !j.saving {
				j.fail("key_empty", "must have a value for one of %s, of which its key is made", listing(from))
			}
			return
		}
		if place, taken := k.taken[key]; taken {
			j.fail("key_unique", "must have a key of its own, found %s as of %s", quoteValue(key), place)
			return
		}
		k.taken[key] = j.inside()
	}
	if key == "" {
		j.fail("key_empty", "must have a key that is not empty")
		return
	}
	var patterns []ValidationPattern
	if k.config != nil {
		patterns = k.config.Patterns
	}
	j.text(key, patterns)
}
