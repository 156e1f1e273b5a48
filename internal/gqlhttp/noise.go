package gqlhttp

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
)

const (
	// maxErrors is how many errors of a document are told. Validation ends there, because the search for
	// names like one that is wrong takes time.
	maxErrors = 20
	// maxFound is the same for errors that are found, where each spread of a fragment finds them again.
	maxFound = 5 * maxErrors
)

// enough is the panic by which a rule ends the validation.
type enough struct{}

// verdict is what the rules have against a document, each error once.
type verdict struct {
	errs  gqlerror.List
	found int
}

func (v *verdict) add(rule string, options []core.ErrorOption) {
	err := &gqlerror.Error{Rule: rule}
	for _, option := range options {
		option(err)
	}
	if v.found++; v.found > maxFound {
		panic(enough{})
	}
	if slices.ContainsFunc(v.errs, func(e *gqlerror.Error) bool {
		return e.Message == err.Message && slices.Equal(e.Locations, err.Locations)
	}) {
		return
	}
	if len(v.errs) == maxErrors {
		panic(enough{})
	}
	v.errs = append(v.errs, err)
}

// end recovers from enough, and says that there may be more.
func (v *verdict) end() {
	if value := recover(); value != nil {
		if _, ended := value.(enough); !ended {
			panic(value)
		}
		v.errs = append(v.errs, gqlerror.Errorf("There may be more errors; validation ended after %d.", len(v.errs)))
	}
}

// quiet is the rule without errors that only follow from one that another rule tells.
func quiet(rule core.Rule) core.Rule {
	hear := rule.RuleFunc
	switch strings.TrimSuffix(rule.Name, "WithoutSuggestions") {
	case "FieldsOnCorrectType": // below a scalar nothing can be selected
		rule.RuleFunc = func(o *core.Events, refuse core.AddErrFunc) {
			var field *ast.Field
			o.OnField(func(_ *core.Walker, f *ast.Field) { field = f })
			hear(o, func(options ...core.ErrorOption) {
				if !field.ObjectDefinition.IsLeafType() {
					refuse(options...)
				}
			})
		}
	case "UniqueOperationNames": // one without a name must be alone
		rule.RuleFunc = func(o *core.Events, refuse core.AddErrFunc) {
			var operation *ast.OperationDefinition
			o.OnOperation(func(_ *core.Walker, op *ast.OperationDefinition) { operation = op })
			hear(o, func(options ...core.ErrorOption) {
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
			hear(o, refuse)
		}
	}
	return rule
}
