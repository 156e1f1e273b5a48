package strictjson

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Rules are what the tag `rules` of a struct's field asks of its value, a list separated by commas of
//
//	required       the member must be there
//	nullable       null is allowed, and the same as absent
//	nonempty       a string of at least 1 character, a list of at least 1 item
//	max=N          at most N characters or items; in free-form JSON, N characters in any string
//	enum=a|b       one of these strings
//	format=NAME    a string of a registered Format
//	shape=object   free-form JSON that is an object (or array)
//	rounded        a number that is rounded to a whole one
//	each.RULE      the rule for every item of a list, or value of an Ordered object
//	NAME[=ARG]     a rule that the types of a package understand, see RegisterRules
type Rules struct {
	Required, Nullable, Nonempty, Rounded bool

	Max    int
	Enum   []string
	Format string
	Shape  Kind
	Each   *Rules
	// own are the registered rules, with their arguments.
	own map[string]string
	// also is what else than the value's type is allowed, for messages.
	also string
}

// Arg returns the argument of a registered rule, and whether the rule is there.
func (r *Rules) Arg(rule string) (string, bool) {
	arg, ok := r.own[rule]
	return arg, ok
}

// Or returns the rules for a value that may also be something else, which messages then name.
func (r *Rules) Or(alternative string) *Rules {
	other := *r
	other.also += " or " + alternative
	return &other
}

// Items returns the rules for what is inside a list or an Ordered object.
func (r *Rules) Items() *Rules {
	if r.Each == nil {
		return &Rules{}
	}
	return r.Each
}

// ownRules are the names that RegisterRules knows.
var ownRules []string

// RegisterRules makes rules known that the types of a package ask for by Rules.Arg. It is called when the program
// starts.
func RegisterRules(names ...string) { ownRules = append(ownRules, names...) }

func parseRules(tag string) *Rules {
	r := &Rules{}
	for part := range strings.SplitSeq(tag, ",") {
		if part == "" {
			continue
		}
		target := r
		if each, ok := strings.CutPrefix(part, "each."); ok {
			if r.Each == nil {
				r.Each = &Rules{}
			}
			target, part = r.Each, each
		}
		target.set(part)
	}
	return r
}

// set panics on a rule that does not exist: a tag is code.
func (r *Rules) set(rule string) {
	name, arg, _ := strings.Cut(rule, "=")

	switch name {
	case "required":
		r.Required = true
	case "nullable":
		r.Nullable = true
	case "nonempty":
		r.Nonempty = true
	case "rounded":
		r.Rounded = true
	case "max":
		limit, err := strconv.Atoi(arg)
		if err != nil {
			panic(fmt.Sprintf("strictjson: max is no number in the rule %q", rule))
		}
		r.Max = limit
	case "enum":
		r.Enum = strings.Split(arg, "|")
	case "format":
		r.Format = arg
	case "shape":
		r.Shape = map[string]Kind{"object": Object, "array": Array}[arg]
	default:
		if !slices.Contains(ownRules, name) {
			panic(fmt.Sprintf("strictjson: no rule %q", rule))
		}
		if r.own == nil {
			r.own = map[string]string{}
		}
		r.own[name] = arg
	}
}

// Member is a field of a struct as its JSON has it. The fields of embedded structs are among those of the struct.
type Member struct {
	Name string
	// Path leads to the field, for reflect's FieldByIndex.
	Path  []int
	Rules *Rules
	// omitzero fields are left out of the JSON while they are zero.
	omitzero bool
}

// Members returns the members that a struct type has in JSON, in their order: the fields with a `json` tag.
func Members(t reflect.Type) []Member { return layoutOf(t).members }

// layout is what is known of a struct type.
type layout struct {
	members []Member
	index   map[string]int
	names   []string
}

var layouts sync.Map // of reflect.Type to *layout

func layoutOf(t reflect.Type) *layout {
	if known, ok := layouts.Load(t); ok {
		return known.(*layout)
	}
	l := &layout{index: map[string]int{}}
	l.collect(t, nil)
	known, _ := layouts.LoadOrStore(t, l)
	return known.(*layout)
}

func (l *layout) collect(t reflect.Type, path []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(path[:len(path):len(path)], i)
		if f.Anonymous {
			l.collect(f.Type, at)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		l.index[name] = len(l.members)
		l.names = append(l.names, name)
		l.members = append(l.members, Member{name, at, parseRules(f.Tag.Get("rules")), options == "omitzero"})
	}
}
