package manifest

import (
	"fmt"
	"strings"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/document"
)

// ValuesTemplate returns a YAML file of values for inputs: each with its label, its description and what it takes as
// comments. An input that has a value in values, nil for none, has that; one that has none is a line to fill in if
// it is required and has no default, and else a comment with its default. What a chosen instance gives is left out.
func ValuesTemplate(inputs []inputprop.Property, values *strictjson.Node) []byte {
	if values == nil || values.Kind != strictjson.Object {
		values = &strictjson.Node{Kind: strictjson.Object}
	}
	var b strings.Builder
	for _, in := range inputprop.NewLevel(inputs).Inputs {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(entryOf(in, values))
	}
	return []byte(b.String())
}

// entryOf returns the lines of an input.
func entryOf(in *inputprop.LevelInput, values *strictjson.Node) string {
	head := in.Property.Head()
	if in.Traits.NoValue {
		return comment("--- "+head.Label+" ---") + describe(head.Description)
	}

	value := values.Get(in.ID)
	if isMapped(in, values) || in.Owner != nil && readsInstance(in) && value == nil {
		return comment(fmt.Sprintf("%s (%s) comes from the instance that %s chooses.", head.Label, in.ID, in.Owner.ID))
	}

	about := comment(head.Label+": "+takes(in)) + describe(head.Description)
	initial := in.Initial()
	switch {
	case value != nil:
		return about + member(in.ID, value)
	case initial.Node != nil:
		return about + comment(strings.TrimSuffix(member(in.ID, initial.Node), "\n"))
	case in.Traits.Required && len(in.Conditions) == 0:
		return about + document.WriteText(in.ID) + ": # to be filled in\n"
	default:
		return about + comment(document.WriteText(in.ID)+":")
	}
}

// isMapped reports whether the chosen instance gives the value of an input.
func isMapped(in *inputprop.LevelInput, values *strictjson.Node) bool {
	return in.Owner != nil && readsInstance(in) && isChosen(values.Get(in.Owner.ID))
}

// isChosen reports whether a reference has a value.
func isChosen(n *strictjson.Node) bool {
	return n != nil && n.Kind == strictjson.String && n.Text != ""
}

// readsInstance reports whether the default of a mapped input has a template that reads the chosen instance.
func readsInstance(in *inputprop.LevelInput) bool {
	return in.Initial().Node != nil && hasReferenceTemplate(in.Initial().Node)
}

func hasReferenceTemplate(n *strictjson.Node) bool {
	if n.Kind == strictjson.String {
		pieces, err := inputprop.ParseTemplate(n.Text)
		for _, p := range pieces {
			if err == nil && strings.HasPrefix(p.Name, inputprop.RefRoot+".") {
				return true
			}
		}
	}
	for _, item := range n.Items {
		if hasReferenceTemplate(item) {
			return true
		}
	}
	return false
}

// member returns a value behind its key.
func member(id string, value *strictjson.Node) string {
	if document.IsBlock(value) {
		return document.WriteText(id) + ":\n" + document.Write(value, "  ")
	}
	return document.WriteText(id) + ": " + document.Write(value, "  ")
}

func describe(description *string) string {
	if description == nil || *description == "" {
		return ""
	}
	return comment(*description)
}

// comment returns each line of a text as a comment. Characters that would end a line elsewhere are blanks.
func comment(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", "\n"), "\n") {
		line = document.Disarm("# "+strings.Map(printable, line), func(rune) string { return "" })
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func printable(c rune) rune {
	if c < ' ' && c != '\t' || c >= 0x7F && c <= 0x9F || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE ||
		c == 0xFFFF {
		return ' '
	}
	return c
}

// takes says in a few words what the value of an input is.
func takes(in *inputprop.LevelInput) string {
	parts := []string{kindOf(in.Property)}
	if static, ok := in.Property.ValueSource().(*inputprop.StaticValues); ok {
		var options []string
		for _, o := range static.Options {
			options = append(options, string(inputprop.ChosenValue(in.Property, o).JSON()))
		}
		parts = append(parts, "of "+strictjson.Listing(options))
	}

	for _, trait := range []struct {
		is   bool
		word string
	}{
		{in.Traits.Required, "required"}, {in.Traits.Immutable, "locked after the first deployment"},
		{len(in.Conditions) > 0, "only under conditions"},
		{in.Initial().First, "the first of its values by default"},
	} {
		if trait.is {
			parts = append(parts, trait.word)
		}
	}

	return strings.Join(parts, ", ")
}

func kindOf(p inputprop.Property) string {
	switch p := p.(type) {
	case *inputprop.StringProperty:
		return "a text"
	case *inputprop.TextProperty:
		return "a text of several lines"
	case *inputprop.NumberProperty:
		return "a whole number" + bounds(p)
	case *inputprop.BooleanProperty:
		return "true or false"

	case *inputprop.StringArrayProperty:
		return "a list of texts"
	case *inputprop.ObjectProperty:
		return "an object"
	case *inputprop.ArrayProperty:
		return "a list"
	case *inputprop.KeyValueProperty:
		return "texts by their keys"
	case *inputprop.ObjectMapProperty:
		return "items by their keys, each with " + ids(p.ItemInputs)
	case *inputprop.ObjectArrayProperty:
		return "a list of items, each with " + ids(p.ItemInputs)

	case *inputprop.CompoundProperty:
		return "an object of " + strictjson.Listing(p.Fields)
	case *inputprop.ReferenceProperty:
		return "an instance of " + p.ModuleType() + ", as ./name, ../environment/name, project/environment/name or an id"
	case *inputprop.GitRepoProperty:
		return "the URL of a repository"
	case *inputprop.SectionProperty:
	}

	return ""
}

func ids(inputs []inputprop.Property) string {
	return strictjson.Listing(inputprop.NewLevel(inputs).ValueIDs())
}

func bounds(p *inputprop.NumberProperty) string {
	switch {
	case p.Min != nil && p.Max != nil:
		return fmt.Sprintf(" from %d to %d", *p.Min, *p.Max)
	case p.Min != nil:
		return fmt.Sprintf(" of at least %d", *p.Min)
	case p.Max != nil:
		return fmt.Sprintf(" of at most %d", *p.Max)
	}
	return ""
}
