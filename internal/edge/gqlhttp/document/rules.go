package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// rulesOf returns the validation rules of the specification, in the order of their names, with those of
// our own that close its gaps in the library. Objects of the types withTypename may have a __typename. Without
// suggestions none of the rules names what the document did not.
func rulesOf(c Config, withTypename map[string]bool, suggestions bool) []core.Rule {
	set := rules.NewDefaultRules()
	own := []core.Rule{
		literals(withTypename, suggestions), unicodeLiterals,
		fieldsMergeWithin(c.Limits.Merging), singleRoot, checks(c.Scalars).rule(),
	}
	if !c.Introspection {
		own = append(own, noIntrospection)
	}
	if !suggestions {
		own = append(own,
			rules.FieldsOnCorrectTypeRuleWithoutSuggestions, rules.KnownArgumentNamesRuleWithoutSuggestions,
			rules.KnownTypeNamesRuleWithoutSuggestions, rules.ScalarLeafsRuleWithoutSuggestions)
	}

	for _, rule := range own {
		set.RemoveRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"))
		set.AddRule(rule.Name, rule.RuleFunc)
	}

	var list []core.Rule
	for name, rule := range set.GetInner() {
		list = append(list, filter(core.Rule{Name: name, RuleFunc: rule}))
	}
	slices.SortFunc(list, func(a, b core.Rule) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// unicodeLiterals refuses bytes that are no UTF-8, as the query string of a GET may have, and half of a surrogate pair
// as an escape. The library takes the former, and reads the latter as U+FFFD.
var unicodeLiterals = core.Rule{Name: "UnicodeLiterals", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
	var source []rune // positions count runes
	o.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Kind == ast.StringValue && !utf8.ValidString(v.Raw) {
			refuse(core.Message("A string must be UTF-8."), core.At(v.Position))
		}
		if v.Kind != ast.StringValue || !strings.ContainsRune(v.Raw, '\uFFFD') || v.Position == nil {
			return
		}
		if source == nil {
			source = []rune(v.Position.Src.Input)
		}
		if loneSurrogate(source[v.Position.Start:min(v.Position.End, len(source))]) {
			refuse(core.Message(halfPair), core.At(v.Position))
		}
	})
	description := func(text string, at *ast.Position) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, '\uFFFD') && escapesLoneSurrogate(at.Src) {
			refuse(core.Message("A description must be UTF-8 without half of a surrogate pair as an escape."), core.At(at))
		}
	}
	o.OnOperation(func(_ *core.Walker, op *ast.OperationDefinition) {
		description(op.Description, op.Position)
		for _, v := range op.VariableDefinitions {
			description(v.Description, v.Position)
		}
	})
	o.OnFragment(func(_ *core.Walker, f *ast.FragmentDefinition) { description(f.Description, f.Position) })
}}

const halfPair = "A string must not have half of a surrogate pair as an escape."

// escapesLoneSurrogate reports whether one of the strings of a valid document has half of a surrogate pair as an
// escape. The parser does not tell where a description is.
func escapesLoneSurrogate(document *ast.Source) bool {
	source := []rune(document.Input)
	for tokens := lexer.New(document); ; {
		token, err := tokens.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return false
		}
		if token.Kind == lexer.String && loneSurrogate(source[token.Pos.Start:min(token.Pos.End, len(source))]) {
			return true
		}
	}
}

// loneSurrogate looks for an escaped surrogate without its other half in the text of a valid literal.
func loneSurrogate(literal []rune) bool {
	for i := 0; i < len(literal); i++ {
		if literal[i] != '\\' {
			continue
		}
		unit, escaped := codeUnit(literal[i:])
		if !escaped {
			i++ // past what the backslash escapes
			continue
		}

		i += 5
		if !utf16.IsSurrogate(unit) {
			continue
		}

		low, _ := codeUnit(literal[i+1:])
		if utf16.DecodeRune(unit, low) == '\uFFFD' {
			return true
		}
		i += 6
	}

	return false
}

// codeUnit reads an escape of four digits from the beginning of the text.
func codeUnit(text []rune) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// singleRoot: the library takes two fields of one name for one, whatever they answer under, and lets
// @skip and @include leave none.
var singleRoot = core.Rule{Name: "SingleFieldSubscriptions", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
	o.OnOperation(func(_ *core.Walker, op *ast.OperationDefinition) {
		if op.Operation == ast.Subscription {
			r := subscriptionRoot{refuse: refuse, spread: map[string]bool{}}
			r.look(op.SelectionSet)
		}
	})
}}

// subscriptionRoot looks for what the root of a subscription must not have.
type subscriptionRoot struct {
	refuse core.AddErrFunc
	spread map[string]bool
	// name is what the one field answers under, empty until it is found.
	name string
}

func (r *subscriptionRoot) look(set ast.SelectionSet) {
	for _, selection := range set {
		switch node := selection.(type) {
		case *ast.Field:
			r.conditions(node.Directives)
			r.field(node)
		case *ast.InlineFragment:
			r.conditions(node.Directives)
			r.look(node.SelectionSet)
		case *ast.FragmentSpread:
			r.conditions(node.Directives)
			if node.Definition != nil && !r.spread[node.Name] {
				r.spread[node.Name] = true
				r.look(node.Definition.SelectionSet)
			}
		}
	}
}

func (r *subscriptionRoot) field(f *ast.Field) {
	if strings.HasPrefix(f.Name, "__") {
		r.refuse(core.Message("A subscription must not select %s at its root.", f.Name), core.At(f.Position))
	}
	if r.name != "" && r.name != f.Alias {
		r.refuse(core.Message("A subscription must select one field; found %q beside %q.", f.Alias, r.name),
			core.At(f.Position))
	}
	r.name = f.Alias
}

func (r *subscriptionRoot) conditions(directives ast.DirectiveList) {
	for _, d := range directives {
		if d.Name == "skip" || d.Name == "include" {
			r.refuse(core.Message("A subscription must not have @%s at its root.", d.Name), core.At(d.Position))
		}
	}
}

var noIntrospection = core.Rule{Name: "NoIntrospection", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
	o.OnField(func(_ *core.Walker, f *ast.Field) {
		if introspects(f) {
			refuse(core.Message("Introspection is off on this server."), core.At(f.Position))
		}
	})
}}
