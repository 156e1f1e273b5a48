package inputprop

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/strictjson"
)

// value judges the value of a field by its variant. The items of collections are judged apart.
func (j *judge) value(fl *field, f *form) {
	n := fl.value
	if n.Kind == strictjson.String && (fl.open || j.saving && strings.Contains(n.Text, templateOpen)) {
		return
	}
	switch p := fl.in.property.(type) {
	case *StringProperty:
		if j.kind(n, strictjson.String) && j.text(n.Text, p.Patterns) {
			j.among(f, p, n)
		}
	case *TextProperty:
		if j.kind(n, strictjson.String) {
			j.text(n.Text, p.Patterns)
		}
	case *NumberProperty:
		j.number(f, p, n)
	case *BooleanProperty:
		j.kind(n, strictjson.Bool)
	case *ObjectProperty, *ObjectMapProperty:
		if j.kind(n, strictjson.Object) && fl.entries == nil {
			j.leaves(n)
		}
	case *ArrayProperty, *ObjectArrayProperty:
		if j.kind(n, strictjson.Array) && fl.entries == nil {
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
	case *SectionProperty: // which never has a value
	}
}

func (j *judge) kind(n *strictjson.Node, kind strictjson.Kind) bool {
	if n.Kind != kind {
		j.Fail("type", "must be %s, found %s", kind, strictjson.Show(n))
	}
	return n.Kind == kind
}

func (j *judge) number(f *form, p *NumberProperty, n *strictjson.Node) {
	if n.Kind != strictjson.Number {
		j.Fail("type", "must be a whole number, found %s", strictjson.Show(n))
		return
	}
	whole, err := strictjson.ParseInt32(n.Text)
	if err != nil {
		j.Fail("int32", "%v, found %s", err, strictjson.ShowNumber(n.Text))
		return
	}
	j.within(p, whole)
	j.among(f, p, n)
}

// within judges a number by min and max.
func (j *judge) within(p *NumberProperty, n int32) {
	if p.Min != nil && n < *p.Min {
		j.Fail("min", "must be at least %d, found %s", *p.Min, strictjson.ShowNumber(strconv.Itoa(int(n))))
	}
	if p.Max != nil && n > *p.Max {
		j.Fail("max", "must be at most %d, found %s", *p.Max, strictjson.ShowNumber(strconv.Itoa(int(n))))
	}
}

func (j *judge) strings(f *form, p *StringArrayProperty, n *strictjson.Node) {
	if !j.kind(n, strictjson.Array) {
		return
	}
	allowed := j.allowed(f, p)
	for i, item := range n.Items {
		j.Path.PushIndex(i)
		names := n.NamesOf(i)
		j.PushNames(names...)
		templated := j.resolver.isUnresolved(item) ||
			j.saving && item.Kind == strictjson.String && strings.Contains(item.Text, templateOpen)
		if !templated && j.kind(item, strictjson.String) && j.itemText(item.Text, p.Patterns) {
			j.member(allowed, item)
		}
		j.PopNames(names...)
		j.Path.Pop()
	}
}

// compound judges the fields of a chosen option. Where the options are known, it must be one of them.
func (j *judge) compound(f *form, p *CompoundProperty, n *strictjson.Node) {
	if !j.kind(n, strictjson.Object) {
		return
	}
	before := j.Count()
	for i, name := range n.Keys {
		j.Path.PushKey(name)
		switch n.Items[i].Kind {
		case strictjson.String, strictjson.Bool:
		case strictjson.Number:
			if _, err := strictjson.ParseInt32(n.Items[i].Text); err != nil {
				j.Fail("int32", "%v, found %s", err, strictjson.ShowNumber(n.Items[i].Text))
			}
		default:
			j.Fail("type", "must be a string, a whole number or a boolean, found %s", strictjson.Show(n.Items[i]))
		}
		j.Path.Pop()
	}
	for i, name := range p.Fields {
		if n.Get(name) == nil && slices.Index(p.Fields, name) == i {
			j.FailMember(name, "required", "is required, as one of the fields %s", strictjson.Listing(p.Fields))
		}
	}
	for _, name := range n.Keys {
		if slices.Index(p.Fields, name) < 0 {
			j.FailMember(name, "unknown_field", "is not one of the fields %s%s", strictjson.Listing(p.Fields), j.Hint(name, p.Fields))
		}
	}
	if j.Count() == before {
		j.among(f, p, n)
	}
}

// instanceID is the form of the id of a module instance.
var instanceID = regexp.MustCompile(`^inst_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

func (j *judge) reference(n *strictjson.Node) {
	switch {
	case !j.kind(n, strictjson.String):
	case n.Text == "":
		j.Fail("type", "must be the id of a module instance, or null for none, found an empty string")
	case !instanceID.MatchString(n.Text):
		j.Fail("format", "must be the id of a module instance, inst_ and 26 characters, found %s", strictjson.ShowText(n.Text))
	}
}

func (j *judge) repository(n *strictjson.Node) {
	if !j.kind(n, strictjson.String) || n.Text == "" || !j.text(n.Text, nil) {
		return
	}
	if flaw := repositoryFlaw(n.Text); flaw != "" {
		j.Fail("format", repositoryMessage, strictjson.ShowText(n.Text), flaw)
	}
}

func (j *judge) pairs(n *strictjson.Node) {
	if !j.kind(n, strictjson.Object) {
		return
	}
	for i, key := range n.Keys {
		j.Path.PushKey(key)
		if key == "" {
			j.Fail("key_empty", "must have a key that is not empty")
		}
		if j.kind(n.Items[i], strictjson.String) {
			j.text(n.Items[i].Text, nil)
		}
		j.Path.Pop()
	}
}

// leaves bounds the strings of free-form values, and refuses the numbers that a release would not keep.
func (j *judge) leaves(n *strictjson.Node) {
	switch {
	case n.Kind == strictjson.String:
		j.text(n.Text, nil)
	case n.Kind == strictjson.Number && (j.released || !j.saving) && !strictjson.IsExact(n.Text):
		j.Fail("number_precision", strictjson.NumberPrecision, strictjson.ShowNumber(n.Text))
	}
	for i, item := range n.Items {
		j.Path.Push(n, i)
		names := n.NamesOf(i)
		j.PushNames(names...)
		j.leaves(item)
		j.PopNames(names...)
		j.Path.Pop()
	}
}
