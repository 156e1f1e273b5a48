package manifest

import (
	"bytes"
	"fmt"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/remote/cli/document"
)

// Values are values for the inputs of a module, by their ids, put together from files and flags: what comes later goes
// over what was there. Each value keeps where it is from. The zero value has none, and is ready to use.
type Values struct {
	root *strictjson.Node
	// origins are by JSON Pointer, for what was put there as a whole.
	origins map[string]origin
}

// origin is where a value is from: a document, in which it has another place, or a flag.
type origin struct {
	document *document.Document
	// at is the pointer of the value in the document.
	at   string
	flag string
}

// Root returns the values as one object. It must not be changed.
func (v *Values) Root() *strictjson.Node {
	if v.root == nil {
		return &strictjson.Node{Kind: strictjson.Object}
	}
	return v.root
}

// Read adds the values of a file, each in the place of one of the same input; one that has only comments has none. The
// error is Findings.
func (v *Values) Read(file string, text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 { // a command before may have failed that was to write it
		return Findings{{File: file, Code: "empty", Message: "no values; write {} for none"}}
	}

	d, err := document.Read(file, text)
	if err != nil {
		return syntax(err)
	}
	if d.Root.Kind == strictjson.Null { // nothing but comments, perhaps
		return nil
	}
	if violations := inputvalues.CheckValues(d.Root, ""); len(violations) > 0 {
		return inDocument(d, violations)
	}

	if len(v.Root().Keys) == 0 {
		v.put("", d.Root, origin{document: d})
		return nil
	}

	for i, id := range d.Root.Keys {
		pointer := fault.Pointer(id)
		v.put(pointer, withMember(v.Root(), id, d.Root.Items[i]), origin{document: d, at: pointer})
	}
	return nil
}

// Give adds values that are not from a file, each in the place of one of the same input; from is what messages name
// instead of one.
func (v *Values) Give(from string, values *strictjson.Node) {
	for i, id := range values.Keys {
		v.put(fault.Pointer(id), withMember(v.Root(), id, values.Items[i]), origin{flag: from})
	}
}

// put makes root the values; what a pointer leads to in it is new, and from an origin.
func (v *Values) put(pointer string, root *strictjson.Node, from origin) {
	if v.origins == nil {
		v.origins = map[string]origin{}
	}
	for p := range v.origins {
		if strings.HasPrefix(p, pointer+"/") {
			delete(v.origins, p)
		}
	}
	v.root, v.origins[pointer] = root, from
}

// Set sets the value of an input to a text that is read by the input's variant (--set ID=TEXT).
func (v *Values) Set(inputs []inputprop.Property, id, text string) error {
	flag := "--set " + id
	value, err := SetByVariant(inputs, id, text)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	v.put(fault.Pointer(id), withMember(v.Root(), id, value), origin{flag: flag})
	return nil
}

// SetPointer sets what a JSON Pointer leads to in the values to a JSON text (--set-json POINTER=JSON).
func (v *Values) SetPointer(pointer, text string) error {
	flag := "--set-json " + pointer
	keys, err := keysOf(pointer)
	if err != nil {
		return fmt.Errorf("%s %w", flag, err)
	}

	value, err := strictjson.Parse([]byte(text))
	if err != nil {
		return fmt.Errorf("%s must be followed by JSON, such as true, \"text\" or [1]: %w", flag, err)
	}

	root, err := setAt(v.Root(), keys, value)
	if err != nil {
		return fmt.Errorf("%s %w", flag, err)
	}
	if levels := root.Levels(); levels > document.MaxLevels {
		return fmt.Errorf("%s makes values nested %d levels deep; at most %d are allowed", flag, levels, document.MaxLevels)
	}

	if before, last := parent(pointer); last == "-" {
		pointer = fmt.Sprintf("%s/%d", before, len(at(root, keys[:len(keys)-1]).Items)-1)
	}
	v.put(fault.Pointer(fault.Keys(pointer)...), root, origin{flag: flag})
	return nil
}

// Unset removes what a JSON Pointer leads to in the values (--unset POINTER).
func (v *Values) Unset(pointer string) error {
	flag := "--unset " + pointer
	keys, err := keysOf(pointer)
	if err != nil {
		return fmt.Errorf("%s %w", flag, err)
	}
	root, err := unsetAt(v.Root(), keys)
	if err != nil {
		return fmt.Errorf("%s %w", flag, err)
	}
	around := keys[:len(keys)-1]
	if at(root, around).Kind == strictjson.Array { // its items have other indexes than where they were written
		v.put(fault.Pointer(around...), root, origin{flag: flag})
		return nil
	}
	v.put(fault.Pointer(keys...), root, origin{flag: flag})
	return nil
}

// at returns what keys lead to, which is there.
func at(n *strictjson.Node, keys []string) *strictjson.Node {
	for _, key := range keys {
		if i, ok := indexOf(key, len(n.Items)-1); ok && n.Kind == strictjson.Array {
			n = n.Items[i]
		} else {
			n = n.Get(key)
		}
	}
	return n
}

// parent returns the pointer of what is around a value, and the last part of the value's own.
func parent(pointer string) (around, last string) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", ""
	}
	return pointer[:i], pointer[i+1:]
}

// originOf returns where the value of a pointer is from, with its place there; that of the nearest value around it
// if there is none.
func (v *Values) originOf(pointer string) origin {
	for rest := pointer; ; rest, _ = parent(rest) {
		if from, ok := v.origins[rest]; ok {
			from.at += strings.TrimPrefix(pointer, rest)
			return from
		}
		if rest == "" {
			return origin{}
		}
	}
}

// Findings returns violations of the values, whose pointers lead into them, where each value was written.
func (v *Values) Findings(violations []fault.Violation) Findings {
	var list Findings
	for _, one := range violations {
		list = append(list, v.finding(one.Pointer, one.Message, one.Rule))
	}
	return list
}

// Warnings is Findings for warnings.
func (v *Values) Warnings(warnings []inputprop.Warning) Findings {
	var list Findings
	for _, w := range warnings {
		f := v.finding(w.Pointer, w.Message, w.Rule)
		f.Warning = true
		list = append(list, f)
	}
	return list
}

func (v *Values) finding(pointer, message, rule string) Finding {
	f := Finding{Pointer: pointer, Message: message, Code: rule}
	from := v.originOf(pointer)
	switch {
	case from.flag != "":
		f.File = from.flag
	case from.document != nil && atKey[rule]:
		f.File, f.Position = from.document.File, from.document.KeyPosition(from.at)
	case from.document != nil:
		f.File, f.Position = from.document.File, from.document.Position(from.at)
	}
	return f
}
