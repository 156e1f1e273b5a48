package gqlhttp

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// strictRules are the validation rules of the specification and those of our own that close its gaps
// in the library. Without introspection none of them tells names that the document did not.
func strictRules(introspection bool) *rules.Rules {
	set := rules.NewDefaultRules()
	own := []core.Rule{intLiterals, unicodeLiterals, noDefer}
	if !introspection {
		own = append(own, noIntrospection,
			rules.FieldsOnCorrectTypeRuleWithoutSuggestions, rules.KnownArgumentNamesRuleWithoutSuggestions,
			rules.KnownTypeNamesRuleWithoutSuggestions, rules.ScalarLeafsRuleWithoutSuggestions,
			rules.ValuesOfCorrectTypeRuleWithoutSuggestions)
	}
	for _, rule := range own {
		set.RemoveRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"))
		set.AddRule(rule.Name, rule.RuleFunc)
	}
	return set
}

// intLiterals: the library checks 64 bits.
var intLiterals = core.Rule{Name: "IntLiterals", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
	o.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Kind != ast.IntValue || v.Definition == nil || v.Definition.Name != "Int" {
			return
		}
		if n, err := strconv.ParseInt(v.Raw, 10, 64); err == nil && int64(int32(n)) != n {
			refuse(core.Message("Int cannot represent non 32-bit signed integer value: %s", v.Raw), core.At(v.Position))
		}
	})
}}

// unicodeLiterals: the library reads an escaped half of a surrogate pair as U+FFFD.
var unicodeLiterals = core.Rule{Name: "UnicodeLiterals", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
	var source []rune // positions count runes
	o.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Kind != ast.StringValue || !strings.ContainsRune(v.Raw, '\uFFFD') || v.Position == nil {
			return
		}
		if source == nil {
			source = []rune(v.Position.Src.Input)
		}
		if loneSurrogate(source[v.Position.Start:min(v.Position.End, len(source))]) {
			refuse(core.Message("A string must not have half of a surrogate pair as an escape."), core.At(v.Position))
		}
	})
}}

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

// noDefer: every schema of gqlgen's has @defer, and an answer in one piece loses what is deferred.
var noDefer = core.Rule{Name: "NoDefer", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
	o.OnDirective(func(_ *core.Walker, d *ast.Directive) {
		if d.Name == "defer" {
			refuse(core.Message("@defer is not supported."), core.At(d.Position))
		}
	})
}}

var noIntrospection = core.Rule{Name: "NoIntrospection", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
	o.OnField(func(_ *core.Walker, f *ast.Field) {
		if f.Name == "__schema" || f.Name == "__type" {
			refuse(core.Message("Introspection is off on this server."), core.At(f.Position))
		}
	})
}}
