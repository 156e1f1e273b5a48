// Package output has the rules for outputs: what the program of a deployment has made, by names, for the inputs of
// other deployments to be read from. A module version may declare those that its deployments have.
package output

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/pure/release"
)

// What the outputs of a deployment may be at most: how many there are, how many bytes of JSON they have together, and
// how many levels of objects and lists, that of the names among them.
const (
	MaxCount  = 200
	MaxBytes  = 64 << 10
	MaxLevels = strictjson.MaxLevels
)

// What a declaration may be at most: the description of an output, in characters, and all names and descriptions
// together, in bytes.
const (
	maxDescription = 1_000
	maxDeclared    = 256 << 10
)

// maxNamed is how many names a message has.
const maxNamed = 20

// Declared is an output that a module version says its deployments have.
type Declared struct {
	Name        string  `json:"name"`
	Description *string `json:"description,omitzero"`
	// Secret outputs are not kept.
	Secret bool `json:"secret,omitzero"`
}

// nameForm is the form of a name, and nameRule what it says.
var nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,127}$`)

const nameRule = "must begin with a letter or an underscore, " +
	"and go on with at most 127 letters, digits, underscores and hyphens"

// CheckDeclared returns what is wrong with the outputs that a module version declares; the pointers start with at.
func CheckDeclared(list []Declared, at string) []fault.Violation {
	var found fault.Violations
	if len(list) > MaxCount {
		found.Add(at, "max_items", "must have at most %d items, found %d", MaxCount, len(list))
	}

	first, size := map[string]int{}, 0
	for i, d := range list {
		size += len(d.Name)
		here := fmt.Sprintf("%s/%d", at, i)
		before, known := first[d.Name]
		switch {
		case !nameForm.MatchString(d.Name):
			found.Add(here+"/name", "format", nameRule+", found %s", strictjson.Quote(d.Name))
		case known:
			found.AddBeside(fmt.Sprintf("%s/%d/name", at, before), here+"/name", "unique",
				"must be a name of its own, found %s as of", strictjson.Quote(d.Name))
		default:
			first[d.Name] = i
		}

		if d.Description != nil {
			size += len(*d.Description)
			found.Append(textrules.Length(here+"/description", *d.Description, maxDescription)...)
			found.Append(textrules.Text(here+"/description", *d.Description)...)
		}
	}

	if size > maxDeclared {
		found.Add(at, "max_size",
			"must have names and descriptions of at most %d bytes together, found %d", maxDeclared, size)
	}
	return found.All(at)
}

// Check returns what is wrong with the outputs that are reported of a deployment; the pointers start with at. What does
// not fit any more is refused by its name, so that the others would.
func Check(reported *strictjson.Node, at string) []fault.Violation {
	c := strictjson.NewCollector(at)
	if reported.Kind != strictjson.Object {
		c.Fail("type", "must be an object of values by the names of the outputs, found %s", strictjson.Show(reported))
		return c.Violations()
	}

	size := len("{}")
	for i, name := range reported.Keys {
		value := reported.Items[i]
		bytes := len(strictjson.Encode(name)) + len(":,") + len(value.JSON())
		if i == 0 {
			bytes-- // the comma
		}
		levels := 1 + value.Levels()

		switch {
		case i >= MaxCount:
			c.FailMember(name, "max_items", "must be among the first %d outputs, found %d", MaxCount, len(reported.Keys))
		case !nameForm.MatchString(name):
			c.FailMember(name, "format", nameRule)
		case levels > MaxLevels:
			c.FailMember(name, "max_depth", "must be nested at most %d levels deep, found %d", MaxLevels, levels)
		case size+bytes > MaxBytes:
			c.FailMember(name, "max_size",
				"must fit into %d bytes together with those before it, which have %d, found %d", MaxBytes, size, bytes)
		default:
			size += bytes
			c.Path.PushKey(name)
			inputvalues.CheckFree(c, value) // what no input takes would be of no use to anybody
			c.Path.Pop()
		}
	}

	return c.Violations()
}

// Kept returns what of the reported outputs is kept, in their order, and the names of the others. Those are the outputs
// that are declared as secret or mark themselves as sensitive, and those that are not declared and look like secrets,
// or have one in them.
func Kept(reported *strictjson.Node, declared []Declared) (kept *strictjson.Node, secrets []string) {
	kept = &strictjson.Node{Kind: strictjson.Object}
	for i, name := range reported.Keys {
		d := find(declared, name)
		if d != nil && d.Secret || d == nil && release.HoldsSecret(reported, i) || isSensitive(reported.Items[i]) {
			secrets = append(secrets, name)
			continue
		}
		kept.Append(name, reported.Items[i])
	}
	return kept, secrets
}

// isSensitive reports whether a value, or an object in it, says of itself that it is sensitive, as Terraform prints
// them.
func isSensitive(n *strictjson.Node) bool {
	if n.Kind == strictjson.Object {
		if mark := n.Get("sensitive"); mark != nil && mark.Kind == strictjson.Bool && mark.Bool {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, isSensitive)
}

// Missing returns the names of the declared outputs that were not reported; nil is nothing reported.
func Missing(reported *strictjson.Node, declared []Declared) []string {
	var missing []string
	for _, d := range declared {
		if reported == nil || !slices.Contains(reported.Keys, d.Name) {
			missing = append(missing, d.Name)
		}
	}
	return missing
}

func find(declared []Declared, name string) *Declared {
	if i := slices.IndexFunc(declared, func(d Declared) bool { return d.Name == name }); i >= 0 {
		return &declared[i]
	}
	return nil
}

// Names returns the first of the names for a message, and says how many more there are.
func Names(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
