package jsregexp

import (
	"context"
	"errors"
	"math"
)

// machine compiles patterns and runs them. Only one goroutine may use it at a time.
type machine struct {
	compiler *compiler
	matcher  matcher
	programs *programs
}

// compile returns the program of a pattern if that takes at most so many steps, and how many it takes. They are the
// same if the program is known.
func (m *machine) compile(pattern string, steps int) (p *program, taken int, err error) {
	if p := m.programs.get(pattern); p != nil {
		return p, p.taken, checkSteps(p.taken, steps)
	}
	if taken, err = checkCost(pattern, steps); err != nil {
		return nil, taken, err
	}
	if p, err = m.newProgram(pattern); err != nil {
		return nil, taken, err
	}
	p.taken = taken
	m.programs.add(pattern, p)
	return p, taken, nil
}

// newProgram compiles a pattern.
func (m *machine) newProgram(pattern string) (*program, error) {
	rewritten, err := rewrite(pattern)
	if err != nil {
		return nil, err
	}
	bytecode, err := m.bytecode(rewritten, false)
	if err != nil {
		return nil, err
	}
	if err := checkNames(pattern); err != nil {
		return nil, err
	}
	return decode(bytecode)
}

// bytecode returns what the compiler makes of a pattern. It is started when it is first needed.
func (m *machine) bytecode(pattern string, unicode bool) (bytecode []byte, err error) {
	if m.compiler == nil {
		if m.compiler, err = newCompiler(); err != nil {
			return nil, err
		}
	}
	return m.compiler.compile(pattern, unicode)
}

// close frees the machine's memory outside of Go's.
func (m *machine) close() {
	if m.compiler != nil {
		m.compiler.close()
	}
}

// test reports whether the pattern matches anywhere in text, and how many of the steps are left.
func (m *machine) test(ctx context.Context, pattern, text string, steps int) (matched bool, left int, err error) {
	p, _, err := m.compile(pattern, math.MaxInt)
	if err != nil {
		return false, steps, err
	}
	return m.matcher.match(ctx, p, text, steps)
}

// refusedByUnicode returns why the flag u would refuse a pattern, "" if it would not.
func (m *machine) refusedByUnicode(pattern string) (string, error) {
	_, err := m.bytecode(pattern, true)
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		return syntax.Message, nil
	}
	return "", err
}
