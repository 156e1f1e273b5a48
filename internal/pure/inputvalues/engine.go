// Package inputvalues works with values given a schema of package inputprop: it completes them, says what a form shows
// for them, and finds every violation.
//
// A resolver makes a level of fields out of a level of inputs: which inputs are visible, and what their values are
// with defaults, filled templates and chosen instances. Items of collections are levels of their own, and their keys
// are computed from their values. A validator goes over the resolved levels; Resolve describes them for a form;
// Baseline keeps of them what immutable inputs are compared with. What the schema does not say comes from an Env, and
// JavaScript's regular expressions from Patterns, so the package knows no database.
//
// To follow Validate read validate.go, value.go, resolver.go, collection.go, level.go and, for what they ask for,
// engine.go.
package inputvalues

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"slipway/internal/base/jsregexp"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// Patterns run JavaScript regular expressions. Their errors are *jsregexp.SyntaxError for what a browser
// would refuse, jsregexp.ErrTooManyGroups, jsregexp.ErrTooSlow, and others for what has nothing to do with the pattern.
type Patterns interface {
	// Compile returns an error if there is no such pattern. It may take as many steps as steps says, and returns how
	// many it took.
	Compile(ctx context.Context, pattern string, steps int) (taken int, err error)
	// Test reports whether the pattern is found in the text, within steps as Compile.
	Test(ctx context.Context, pattern, text string, steps int) (found bool, taken int, err error)
	// Warnings returns reasons why the pattern may not work in every browser.
	Warnings(ctx context.Context, pattern string) ([]string, error)
}

// Engine resolves and validates values. It is safe for concurrent use.
type Engine struct{ patterns Patterns }

// NewEngine returns an engine. Without patterns every text matches.
func NewEngine(patterns Patterns) *Engine { return &Engine{patterns} }

// resolver returns a resolver for one call, which judges what is remembered by the engine's patterns.
func (e *Engine) resolver(ctx context.Context, env *Env, at string) *resolver {
	r := newResolver(ctx, env, at)
	r.match = NewMatcher(ctx, e.patterns)
	return r
}

// Env is what values are resolved in: what templates may name, and where the server's lists and other
// instances are. What is left empty of a Scope is not known: templates that name it stay as they are.
type Env struct {
	Organization, Project, Environment Scope
	Module                             ModuleScope
	// Previous are the values that bind, as far as the inputs of now take them: those of the live release, and those
	// that inputs had before they were hidden. It is nil before there are any. They also stand for immutable inputs
	// that are left out.
	Previous *strictjson.Node
	// Ref returns what a chosen instance has at a path such as input.cidr or stack.output.vpc_id, false where
	// it has nothing there, ErrNotLive if it has nothing at all, a *MissingOutput if an output was not reported, and
	// ErrUnknownRef if nobody looks.
	// Without it, values that come from instances are not known.
	Ref func(ctx context.Context, instanceID, path string) (*strictjson.Node, bool, error)
	// Reference returns why an instance may not be chosen by a reference to a module type, "" if it may, and whether
	// that is known. Without it, every instance may.
	Reference func(instanceID, moduleType string) (flaw string, known bool)
	// Options returns the options of a source of dynamic values. Without it, they are not known and no
	// value is refused for not being among them.
	Options func(ctx context.Context, source string, params map[string]string) ([]inputprop.Option, error)
}

// ErrUnknownRef is the error of Ref if a value of a chosen instance is not looked up; it is not judged then.
var ErrUnknownRef = errors.New("inputvalues: the value is not known here")

// ErrNotLive is the error of Ref if a chosen instance has nothing live that could be read from.
var ErrNotLive = errors.New("inputvalues: the instance has nothing live")

// Scope is what templates may name of an organization, a project or an environment.
type Scope struct{ ID, Name, Slug string }

// ModuleScope is what templates may name of the module.
type ModuleScope struct{ ID, Name, Type, Version string }

// text returns what a path stands for, "" if that is not known here, false if there is no such thing.
func (e *Env) text(path string) (string, bool) {
	root, member, _ := strings.Cut(path, ".")
	var members map[string]string
	switch root {
	case "organization":
		members = e.Organization.members()
	case "project":
		members = e.Project.members()
	case "environment":
		members = e.Environment.members()
	case "module":
		members = map[string]string{
			"id": e.Module.ID, "name": e.Module.Name, "type": e.Module.Type, "version": e.Module.Version,
		}
	}
	text, ok := members[member]
	return text, ok
}

func (s Scope) members() map[string]string {
	return map[string]string{"id": s.ID, "name": s.Name, "slug": s.Slug}
}

// maxFetches bounds the lists of dynamic values that one call asks for.
const maxFetches = 100

// options returns what there is to choose from, or false if that is not known.
func (r *resolver) options(l *level, p inputprop.Property) ([]inputprop.Option, bool) {
	switch v := p.ValueSource().(type) {
	case *inputprop.StaticValues:
		return v.Options, true
	case *inputprop.DynamicValuesRef:
		params, waits := l.params(v)
		if r.env.Options == nil || r.saving || len(waits) > 0 {
			return nil, false
		}
		return r.fetched(v.Source, params)
	}
	return nil, false
}

// fetched returns the options of a source, which is asked once.
func (r *resolver) fetched(source string, params map[string]string) ([]inputprop.Option, bool) {
	key := string(strictjson.Encode([]any{source, params}))
	if options, ok := r.fetchedLists[key]; ok {
		return options, true
	}
	if len(r.fetchedLists) == maxFetches {
		r.Fail("max_fetches", "must need at most %d lists of dynamic values, found more", maxFetches)
		return nil, false
	}
	options, err := r.env.Options(r.ctx, source, params)
	if err != nil {
		r.err = err
		return nil, false
	}
	if r.fetchedLists == nil {
		r.fetchedLists = map[string][]inputprop.Option{}
	}
	r.fetchedLists[key] = options
	return options, true
}

// lookUp returns what a path stands for, nil if there is nothing. Before an instance is chosen that is
// no mistake: the value is asked for.
func (r *resolver) lookUp(fl *field, path string) *strictjson.Node {
	inside, isRef := strings.CutPrefix(path, inputprop.RefRoot+".")
	if !isRef {
		text, ok := r.env.text(path)
		if !ok {
			r.Fail("template_unresolved", "must name what there is, found %s", strictjson.Quote(path))
			return nil
		}
		return textNode(text)
	}
	if r.instance == "" {
		return nil
	}
	if r.env.Ref == nil {
		fl.unknown = true
		return nil
	}
	return r.inside(fl, inside)
}

// inside returns what the chosen instance has at a path, for which it is asked once.
func (r *resolver) inside(fl *field, path string) *strictjson.Node {
	key := [2]string{r.instance, path}
	value, known := r.lookedUp[key]
	if !known {
		found, ok, err := r.env.Ref(r.ctx, r.instance, path)
		if errors.Is(err, ErrUnknownRef) || errors.Is(err, ErrNotLive) {
			fl.unknown, r.chosen.notLive = true, r.chosen.notLive || errors.Is(err, ErrNotLive)
			return nil
		}
		if missing, ok := errors.AsType[*MissingOutput](err); ok {
			r.miss(fl, missing)
			r.chosen.hasRead(path, nil)
			return nil
		}
		if err != nil {
			r.err = err
			return nil
		}

		if ok {
			value = found
		}
		if r.lookedUp == nil {
			r.lookedUp = map[[2]string]*strictjson.Node{}
		}
		r.lookedUp[key] = value
	}

	if value == nil {
		r.Fail("template_unresolved", "must have a value from the chosen instance, which has no %s", path)
		fl.unknown = true
		return nil
	}

	r.chosen.hasRead(path, value)
	return value
}

// maxTests bounds the matches of one call.
const maxTests = 8_000

// Matcher runs the patterns of one call.
type Matcher struct {
	patterns Patterns
	ctx      context.Context
	tests    int
	// slow is set when a pattern took too long: none is tried after it, in all of the request.
	slow  bool
	flaws map[string]PatternFlaw
	// err is what kept the matcher from an answer.
	err error
}

// NewMatcher returns a matcher for one call; without patterns every pattern is good and every text matches.
func NewMatcher(ctx context.Context, patterns Patterns) *Matcher {
	return &Matcher{patterns: patterns, ctx: ctx, flaws: map[string]PatternFlaw{}}
}

// Err returns what kept the matcher from an answer, which has nothing to do with the patterns.
func (m *Matcher) Err() error { return m.err }

// PatternFlaw is why a pattern is of no use: the name of the rule and a message, both empty if it is of use.
type PatternFlaw struct {
	Rule, Message string
	// Warnings are reasons why the pattern may not work in every browser.
	Warnings []string
}

// Compile returns what is wrong with a pattern.
func (m *Matcher) Compile(pattern string) PatternFlaw {
	if known, ok := m.flaws[pattern]; ok || m.patterns == nil || m.err != nil {
		return known
	}
	if m.err = meter.Spend(m.ctx, meter.Patterns, len(pattern)); m.err != nil {
		return PatternFlaw{}
	}
	flaw := m.compile(pattern)
	if flaw.Rule == "" && m.err == nil {
		flaw.Warnings, m.err = m.patterns.Warnings(m.ctx, pattern)
	}
	m.flaws[pattern] = flaw
	return flaw
}

// compile compiles a pattern for the first time in the call, so that what it takes counts once, wherever its program
// is.
func (m *Matcher) compile(pattern string) (flaw PatternFlaw) {
	meter.CompilePattern(m.ctx, func(steps int) int {
		taken, err := m.patterns.Compile(m.ctx, pattern, steps)
		flaw = m.flaw(err)
		return taken
	})
	m.flaws[pattern] = flaw
	return flaw
}

func (m *Matcher) flaw(err error) PatternFlaw {
	var syntax *jsregexp.SyntaxError

	switch {
	case err == nil:
		return PatternFlaw{}
	case errors.As(err, &syntax):
		return PatternFlaw{
			Rule:    "pattern_syntax",
			Message: "must be a JavaScript regular expression, found " + syntax.Message,
		}
	case errors.Is(err, jsregexp.ErrTooManyGroups):
		return PatternFlaw{
			Rule:    "pattern_limit",
			Message: fmt.Sprintf("must have at most %d groups that capture, found more", jsregexp.MaxGroups),
		}
	case errors.Is(err, jsregexp.ErrTooSlow):
		m.slow = true
		return PatternFlaw{
			Rule:    "pattern_too_slow",
			Message: "must be matched by patterns in time, found one that takes too long",
		}
	default:
		m.err = err
		return PatternFlaw{}
	}
}

// Test reports whether a text matches a pattern; the flaw is why that could not be tried.
func (m *Matcher) Test(pattern, text string) (bool, PatternFlaw) {
	if m.patterns == nil || m.err != nil {
		return true, PatternFlaw{}
	}
	if m.slow {
		return false, afterSlow
	}

	known, compiled := m.flaws[pattern]
	if !compiled {
		known = m.compile(pattern)
	}
	if known.Rule != "" {
		return false, known
	}

	if m.tests++; m.tests > maxTests {
		return false, PatternFlaw{
			Rule:    "max_tests",
			Message: fmt.Sprintf("must need at most %d matches of patterns in all, found more", maxTests),
		}
	}
	if m.err = meter.Spend(m.ctx, meter.Matches, 1); m.err == nil {
		m.err = meter.Spend(m.ctx, meter.Matched, len(text))
	}
	if m.err != nil {
		return true, PatternFlaw{}
	}

	var ok bool
	var flaw PatternFlaw
	if !meter.TryPattern(m.ctx, func(steps int) (int, bool) {
		found, taken, err := m.patterns.Test(m.ctx, pattern, text, steps)
		ok, flaw = found, m.flaw(err)
		return taken, m.slow
	}) {
		m.slow = true
		return false, afterSlow
	}

	if flaw.Rule != "" {
		m.flaws[pattern] = flaw
	}
	return ok || m.err != nil, flaw
}

// afterSlow is why a text is not matched once a pattern was too slow.
var afterSlow = PatternFlaw{
	Rule:    "pattern_too_slow",
	Message: "must be matched by patterns in time, and is not matched, for another took too long",
}
