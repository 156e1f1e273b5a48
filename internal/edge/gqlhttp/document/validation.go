package document

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
)

const (
	// maxErrors is how many errors of a document are reported. Validation ends there, because the search for
	// names like one that is wrong takes time.
	maxErrors = 20
	// maxFound is the same for errors that are found, where each spread of a fragment finds them again.
	maxFound = 5 * maxErrors
)

// maxTypo is the longest name, in bytes, that others like it are looked for.
const maxTypo = 40

// validate returns what the rules have against the document. Fields of fragments that spread themselves
// cannot be merged, and need not be: the document is refused.
func (d *Documents) validate(doc *ast.QueryDocument, longestName int, isCyclic bool) gqlerror.List {
	list := d.rules
	if longestName > maxTypo {
		list = d.rulesWithoutSuggestions
	}
	var r report
	var events validator.Events
	for _, rule := range list {
		if isCyclic && rule.Name == fieldsMerge {
			continue
		}
		rule.RuleFunc(&events, func(options ...core.ErrorOption) { r.add(rule.Name, options) })
	}
	func() {
		defer r.end()
		validator.Walk(d.schema, doc, &events)
	}()
	return r.errs
}

// tooMany is the panic by which a rule ends the validation.
type tooMany struct{}

// report is what the rules have against a document, each error once.
type report struct {
	errs  gqlerror.List
	found int
}

func (r *report) add(rule string, options []core.ErrorOption) {
	err := &gqlerror.Error{Rule: rule}
	for _, option := range options {
		option(err)
	}
	if r.found++; r.found > maxFound {
		panic(tooMany{})
	}
	if slices.ContainsFunc(r.errs, func(e *gqlerror.Error) bool {
		return e.Message == err.Message && slices.Equal(e.Locations, err.Locations)
	}) {
		return
	}
	if len(r.errs) == maxErrors {
		panic(tooMany{})
	}
	r.errs = append(r.errs, err)
}

// end recovers from tooMany, and adds that there may be more.
func (r *report) end() {
	if value := recover(); value != nil {
		if _, ended := value.(tooMany); !ended {
			panic(value)
		}
		r.errs = append(r.errs, gqlerror.Errorf("There may be more errors; validation ended after %d.", len(r.errs)))
	}
}

// filter returns the rule without errors that only follow from one that another rule reports.
func filter(rule core.Rule) core.Rule {
	ruleFunc := rule.RuleFunc

	switch strings.TrimSuffix(rule.Name, "WithoutSuggestions") {
	case "FieldsOnCorrectType": // below a scalar nothing can be selected
		rule.RuleFunc = func(o *core.Events, refuse core.AddErrFunc) {
			var field *ast.Field
			o.OnField(func(_ *core.Walker, f *ast.Field) { field = f })
			ruleFunc(o, func(options ...core.ErrorOption) {
				if !field.ObjectDefinition.IsLeafType() {
					refuse(options...)
				}
			})
		}

	case "UniqueOperationNames": // one without a name must be alone
		rule.RuleFunc = func(o *core.Events, refuse core.AddErrFunc) {
			var operation *ast.OperationDefinition
			o.OnOperation(func(_ *core.Walker, op *ast.OperationDefinition) { operation = op })
			ruleFunc(o, func(options ...core.ErrorOption) {
				if operation.Name != "" {
					refuse(options...)
				}
			})
		}

	case "NoUnusedVariables": // one that is defined twice is used as the first of them
		rule.RuleFunc = func(o *core.Events, refuse core.AddErrFunc) {
			o.OnOperation(func(_ *core.Walker, op *ast.OperationDefinition) {
				for _, def := range op.VariableDefinitions {
					def.Used = def.Used || op.VariableDefinitions.ForName(def.Variable) != def
				}
			})
			ruleFunc(o, refuse)
		}
	}

	return rule
}
