package document

import (
	"encoding/json"
	"errors"
	"strings"

	"slipway/internal/base/strictjson"
)

// json reads a text that is JSON, or is meant to be. The tokens give the positions, and what is refused besides gets
// them in its message; the tree is strictjson's.
func (r *reader) json() error {
	if json.Valid([]byte(r.text)) {
		d := json.NewDecoder(strings.NewReader(r.text))
		d.UseNumber()
		if err := r.jsonValue(d, 0); err != nil {
			return err
		}
	}
	root, err := strictjson.ParseWithin([]byte(r.text), strictjson.Limits{Depth: MaxLevels, Bytes: MaxBytes})
	var flaw *strictjson.SyntaxError
	if errors.As(err, &flaw) {
		return r.fail(flaw.Offset, "%s", flaw.Message)
	}
	r.doc.Root = root
	return err
}

// jsonValue reads the next value; level is how many arrays and objects are around it.
func (r *reader) jsonValue(d *json.Decoder, level int) error {
	offset := r.next(d)
	t, err := d.Token()
	if err != nil {
		return r.fail(offset, "%v", err)
	}
	if err := r.note(offset); err != nil {
		return err
	}

	open, isCollection := t.(json.Delim)
	if !isCollection {
		return nil
	}
	if level == MaxLevels {
		return r.tooDeep(offset)
	}

	if open == '{' {
		err = r.jsonMembers(d, level+1)
	} else {
		err = r.jsonItems(d, level+1)
	}
	if err == nil {
		_, err = d.Token()
	}
	return err
}

func (r *reader) jsonMembers(d *json.Decoder, level int) error {
	seen := map[string]int{}
	for d.More() {
		offset := r.next(d)
		t, err := d.Token()
		if err != nil {
			return r.fail(offset, "%v", err)
		}
		key := t.(string)
		if first, again := seen[key]; again {
			return r.doubled(offset, key, r.position(first))
		}
		seen[key] = offset

		r.path.PushKey(key)
		r.noteKey(offset)
		if err := r.jsonValue(d, level); err != nil {
			return err
		}
		r.path.Pop()
	}
	return nil
}

func (r *reader) jsonItems(d *json.Decoder, level int) error {
	for i := 0; d.More(); i++ {
		r.path.PushIndex(i)
		if err := r.jsonValue(d, level); err != nil {
			return err
		}
		r.path.Pop()
	}
	return nil
}

// next returns the offset of the token that comes next.
func (r *reader) next(d *json.Decoder) int {
	offset := int(d.InputOffset())
	for offset < len(r.text) && strings.IndexByte(" \t\n,:", r.text[offset]) >= 0 {
		offset++
	}
	return offset
}
