package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// treeOf reads a JSON text into a tree, whose numbers are canonical so that equal ones are equal texts.
func treeOf(text json.RawMessage) any {
	if len(text) == 0 {
		return absent{}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		// What is compared was stored as JSON.
		panic(fmt.Sprintf("release: compare what is not JSON: %v", err))
	}
	return canonicalTree(tree)
}

func canonicalTree(tree any) any {
	switch v := tree.(type) {
	case json.Number:
		if isShort(string(v)) {
			break
		}
		// One that a double cannot hold is compared as it was written.
		if text, exact := canonicalNumber(v.String()); exact {
			return json.Number(text)
		}
	case []any:
		for i := range v {
			v[i] = canonicalTree(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = canonicalTree(v[name])
		}
	}
	return tree
}

// isShort reports whether a number is so written that it is canonical at a glance: a few digits, as most are.
func isShort(number string) bool {
	const exact = 15 // digits that every double keeps
	return len(number) <= exact && strings.Trim(number, "0123456789") == "" && number != ""
}

// isLeaf says whether a value has nothing below it; what is absent is no leaf.
func isLeaf(value any) bool {
	switch v := value.(type) {
	case absent:
		return false
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return true
}

// isScalar reports whether a value can be told from another by ==.
func isScalar(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// textOf gives a leaf as JSON, nil for what is absent.
func textOf(value any) json.RawMessage {
	if _, gone := value.(absent); gone {
		return nil
	}
	return appendValue(nil, value)
}

// pair is an item on both sides by its indexes, -1 for a side where it is not.
type pair struct{ before, after int }

func byIndex(before, after []any) []pair {
	pairs := make([]pair, max(len(before), len(after)))
	for i := range pairs {
		pairs[i] = pair{i, i}
		if i >= len(before) {
			pairs[i].before = -1
		}
		if i >= len(after) {
			pairs[i].after = -1
		}
	}
	return pairs
}

func byName(before, after map[string]int) []pair {
	pairs := make([]pair, 0, max(len(before), len(after)))
	for name, i := range after {
		p := pair{-1, i}
		if j, ok := before[name]; ok {
			p.before = j
		}
		pairs = append(pairs, p)
	}
	for name, i := range before {
		if _, both := after[name]; !both {
			pairs = append(pairs, pair{i, -1})
		}
	}
	return pairs
}

// namesOf gives the indexes of the items by their names, where all are objects and each has its own.
func namesOf(items []any) (map[string]int, bool) {
	names := make(map[string]int, len(items))
	for i, item := range items {
		object, _ := item.(map[string]any)
		name, ok := object["name"].(string)
		if _, taken := names[name]; !ok || taken {
			return nil, false
		}
		names[name] = i
	}
	return names, true
}
