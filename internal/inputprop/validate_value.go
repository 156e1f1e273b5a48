package inputprop

import (
	"regexp"
	"slices"
	"strings"
)

// value judges the value of a field by its variant. The items of collections are judged apart.
func (j *judge) value(fl *field, f *form) {
	n := fl.value
	if j.saving && n.Kind == String && strings.Contains(n.Text, templateOpen) {
		return
	}
	switch p := fl.in.Property.(type) {
	case *StringProperty:
		if j.kind(n, String) && j.text(n.Text, p.Patterns) {
			j.among(f, p, n)
		}
	case *TextProperty:
		if j.kind(n, String) {
			j.text(n.Text, p.Patterns)
		}
	case *NumberProperty:
		j.number(f, p, n)
	case *BooleanProperty:
		j.kind(n, Bool)
	case *ObjectProperty, *ObjectMapProperty:
		if j.kind(n, Object) && fl.entries == nil {
			j.leaves(n)
		}
	case *ArrayProperty, *ObjectArrayProperty:
		if j.kind(n, Array) && fl.entries == nil {
			j.leaves(n)
		}
	case *StringArrayProperty:
		j.strings(f, p, n)
	case *CompoundProperty:
		j.compound(f, p, n)
	case *ReferenceProperty:
		j.reference(n)
	case *GitRepoProperty:
		j.repository(n)
	case *KeyValueProperty:
		j.pairs(n)
	}
}

func (j *judge) kind(n *Node, kind Kind) bool {
	if n.Kind != kind {
		j.fail("type", "must be %s, found %s", kind, n.found())
	}
	return n.Kind == kind
}

func (j *judge) number(f *form, p *NumberProperty, n *Node) {
	if n.Kind != Number {
		j.fail("type", "must be a whole number, found %s", n.found())
		return
	}
	whole, err := parseInt32(n.Text)
	if err != nil {
		j.fail("int32", "%v, found %s", err, repeated(short(n.Text)))
		return
	}
	j.within(p, whole)
	j.among(f, p, n)
}

// within judges a number by min and max.
func (j *judge) within(p *NumberProperty, n int32) {
	if p.Min != nil && n < *p.Min {
		j.fail("min", "must be at least %d, found %s", *p.Min, numberValue(n))
	}
	if p.Max != nil && n > *p.Max {
		j.fail("max", "must be at most %d, found %s", *p.Max, numberValue(n))
	}
}

func (j *judge) strings(f *form, p *StringArrayProperty, n *Node) {
	if !j.kind(n, Array) {
		return
	}
	allowed := j.allowed(f, p)
	for i, item := range n.Items {
		j.at.item(i)
		names := n.namesOf(i)
		j.name(names...)
		templated := j.saving && item.Kind == String && strings.Contains(item.Text, templateOpen)
		if !templated && j.kind(item, String) && j.itemText(item.Text, p.Patterns) {
			j.member(allowed, item)
		}
		j.rename(names...)
		j.at.up()
	}
}

// compound judges the fields of a chosen option. Where the options are known, it must be one of them.
func (j *judge) compound(f *form, p *CompoundProperty, n *Node) {
	if !j.kind(n, Object) {
		return
	}
	before := j.found.Count()
	for i, name := range n.Keys {
		j.at.member(name)
		switch n.Items[i].Kind {
		case String, Bool:
		case Number:
			if _, err := parseInt32(n.Items[i].Text); err != nil {
				j.fail("int32", "%v, found %s", err, repeated(short(n.Items[i].Text)))
			}
		default:
			j.fail("type", "must be a string, a whole number or a boolean, found %s", n.Items[i].found())
		}
		j.at.up()
	}
	for i, name := range p.Fields {
		if n.Get(name) == nil && slices.Index(p.Fields, name) == i {
			j.failMember(name, "required", "is required, as one of the fields %s", listing(p.Fields))
		}
	}
	for _, name := range n.Keys {
		if slices.Index(p.Fields, name) < 0 {
			j.failMember(name, "unknown_field", "is not one of the fields %s%s", listing(p.Fields), j.hint(name, p.Fields))
		}
	}
	if j.found.Count() == before {
		j.among(f, p, n)
	}
}

// instanceID is the form of the id of a module instance.
var instanceID = regexp.MustCompile(`^inst_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

func (j *judge) reference(n *Node) {
	switch {
	case !j.kind(n, String):
	case n.Text == "":
		j.fail("type", "must be the id of a module instance, or null for none, found an empty string")
	case !instanceID.MatchString(n.Text):
		j.fail("format", "must be the id of a module instance, inst_ and 26 characters, found %s", quoteValue(n.Text))
	}
}

func (j *judge) repository(n *Node) {
	if !j.kind(n, String) || n.Text == "" || !j.text(n.Text, nil) {
		return
	}
	if flaw := repositoryFlaw(n.Text); flaw != "" {
		j.fail("format", repositoryMessage, quoteValue(n.Text), flaw)
	}
}

func (j *judge) pairs(n *Node) {
	if !j.kind(n, Object) {
		return
	}
	for i, key := range n.Keys {
		j.at.member(key)
		if key == "" {
			j.fail("key_empty", "must have a key that is not empty")
		}
		if j.kind(n.Items[i], String) {
			j.text(n.Items[i].Text, nil)
		}
		j.at.up()
	}
}

// leaves bounds the strings of free-form values.
func (j *judge) leaves(n *Node) {
	if n.Kind == String {
		j.text(n.Text, nil)
	}
	for i, item := range n.Items {
		if n.Kind == Object {
			j.at.member(n.Keys[i])
		} else {
			j.at.item(i)
		}
		j.leaves(item)
		j.at.up()
	}
}
