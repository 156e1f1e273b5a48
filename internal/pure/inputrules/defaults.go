package inputrules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// DropRefused takes the defaults out of stored inputs that would be refused if they were saved now, so that they
// count as absent, and warns of each; pointers start with at. The error is of the patterns or of the context.
func (e *Engine) DropRefused(ctx context.Context, list []inputprop.Property, at string) ([]inputprop.Warning, error) {
	var warnings []inputprop.Warning
	match := inputvalues.NewMatcher(ctx, e.patterns)
	inputprop.Walk(list, at, func(p inputprop.Property, pointer string) {
		refusal, refused := refusal(ctx, match, p, pointer)
		if !refused || match.Err() != nil {
			return
		}
		p.DropDefault()
		warnings = append(warnings, inputprop.Warning{
			Pointer: refusal.Pointer, Rule: "default_refused", Message: "counts as absent, for it " + refusal.Message,
		})
	})
	return warnings, match.Err()
}

// refusal returns the first thing that is wrong with a default. That a pattern gives no answer is no fault of it.
func refusal(
	ctx context.Context, match *inputvalues.Matcher, p inputprop.Property, pointer string,
) (fault.Violation, bool) {
	c := newChecker(ctx, match, pointer, true)
	c.mapped = true
	c.PushNames(p.Head().ID)
	c.checkDefault(p)
	for _, v := range c.Violations() {
		if !inputvalues.IsUnanswered(v.Rule) && v.Rule != "template_ref" {
			return v, true
		}
	}
	return fault.Violation{}, false
}

// checkDefault checks a default: its templates, and that it is a value of the input if it has none. A default may
// leave a required value out.
func (c *checker) checkDefault(p inputprop.Property) {
	s := p.InitialValue()
	if s.First {
		if v, ok := p.ValueSource().(*inputprop.StaticValues); p.ValueSource() == nil || ok && len(v.Options) == 0 {
			c.FailMember("default", "values_first", "must stand beside values of which there is a first, found none")
		}
	}
	if s.Node == nil {
		return
	}
	c.Path.PushKey("default")
	defer c.Path.Pop()
	if !s.Verbatim {
		c.templates(s.Node)
	}
	c.saved.Default(p, s.Node)
}

// templates checks those in every string of a default.
func (c *checker) templates(n *strictjson.Node) {
	if n.Kind == strictjson.String {
		c.template(n.Text)
	}
	for i, item := range n.Items {
		c.Path.Push(n, i)
		c.templates(item)
		c.Path.Pop()
	}
}

func (c *checker) template(text string) {
	pieces, err := inputprop.ParseTemplate(text)
	switch {
	case err == nil:
	case c.IsSecret():
		c.Fail("template_syntax",
			"must close every ${{ with }} behind a path such as project.slug, or write $${{ for the text ${{")
	default:
		c.Fail("template_syntax", "%v", err)
	}
	for _, p := range pieces {
		if p.Name == "" {
			continue
		}
		if rule, message := pathFlaw(p.Name, c.mapped); rule != "" {
			c.Fail(rule, "%s", message)
		}
	}
}

// scopes are the roots of the paths that are known when a deployment is created, with their members.
var scopes = map[string][]string{
	"organization": {"id", "name", "slug"},
	"project":      {"id", "name", "slug"},
	"environment":  {"id", "name", "slug"},
	"module":       {"id", "name", "type", "version"},
}

var scopeNames = []string{"organization", "project", "environment", "module"}

// pathFlaw returns the rule that the path of a template breaks, "" if it breaks none; mapped is set within
// mapped_inputs.
func pathFlaw(path string, mapped bool) (rule, message string) {
	root, rest, _ := strings.Cut(path, ".")
	if root == inputprop.RefRoot {
		return refFlaw(path, mapped)
	}

	members, ok := scopes[root]
	if !ok {
		names := scopeNames
		if mapped {
			names = append(slices.Clone(names), inputprop.RefRoot)
		}
		return "template_root", fmt.Sprintf(
			"must start a template's path with one of %s, or write $${{ for the text ${{, found %s%s",
			strings.Join(names, ", "), strictjson.Quote(path), strictjson.Hint(root, names))
	}

	if !slices.Contains(members, rest) {
		return "template_path", fmt.Sprintf("must name one of %s of %s, found %s%s",
			strings.Join(members, ", "), root, strictjson.Quote(path), strictjson.Hint(rest, members))
	}
	return "", ""
}

func refFlaw(path string, mapped bool) (rule, message string) {
	if !mapped {
		return "template_ref", fmt.Sprintf(
			"must not refer to a chosen instance outside of mapped_inputs, found %s", strictjson.Quote(path))
	}
	input, isInput := strings.CutPrefix(path, inputprop.RefRoot+"."+inputprop.RefInput)
	output, isOutput := strings.CutPrefix(path, inputprop.RefRoot+"."+inputprop.RefOutput)
	if !isInput && !isOutput || isInput && strings.Contains(input, ".") || isOutput && strings.Contains(output, ".") {
		return "template_path", fmt.Sprintf(
			"must be ref.input.<name> or ref.stack.output.<name>, found %s", strictjson.Quote(path))
	}
	return "", ""
}
