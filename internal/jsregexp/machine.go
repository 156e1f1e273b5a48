package jsregexp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"modernc.org/quickjs"
)

// machineMemory is how much memory one machine may use, in bytes.
const machineMemory = 32 << 20

// machine is a JavaScript virtual machine and the patterns that it has compiled. Only one goroutine may use it
// at a time.
type machine struct {
	vm *quickjs.VM
	// construct is (pattern, flags) => new RegExp(pattern, flags), and match is RegExp.prototype.test.
	construct, match quickjs.Value
	compiled         *cache
	// broken is set when a call ran out of time or memory: the state of the machine is unknown then.
	broken bool
}

func newMachine() (*machine, error) {
	compiled, err := newCache()
	if err != nil {
		return nil, err
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("start a machine for regular expressions: %w", err)
	}
	m := &machine{vm: vm, compiled: compiled}
	if m.construct, err = vm.EvalValue(`(pattern, flags) => new RegExp(pattern, flags)`, quickjs.EvalGlobal); err == nil {
		m.match, err = vm.EvalValue(`RegExp.prototype.test`, quickjs.EvalGlobal)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a machine for regular expressions: %w", err), m.close())
	}
	vm.SetMemoryLimit(machineMemory)
	return m, nil
}

// close frees the machine, and all values of it before, as QuickJS demands.
func (m *machine) close() error {
	m.compiled.Purge()
	m.construct.Free()
	m.match.Free()
	return m.vm.Close()
}

// setDeadline limits the calls that follow to matchTime, and to the deadline of ctx if that is earlier.
func (m *machine) setDeadline(ctx context.Context) error {
	left := matchTime
	if end, ok := ctx.Deadline(); ok {
		// Zero would stand for no limit.
		left = min(left, max(time.Until(end), 1))
	}
	return m.vm.SetEvalTimeout(left)
}

// compile returns the RegExp of a pattern, which the machine owns.
func (m *machine) compile(pattern string) (quickjs.Value, error) {
	if regexp, ok := m.compiled.Get(pattern); ok {
		return regexp, nil
	}
	if err := checkCost(pattern); err != nil {
		return quickjs.Value{}, err
	}
	rewritten, err := rewrite(pattern)
	if err != nil {
		return quickjs.Value{}, err
	}
	regexp, err := m.newRegExp(rewritten, "")
	if err != nil {
		return quickjs.Value{}, err
	}
	if err := checkNames(pattern); err != nil {
		regexp.Free()
		return quickjs.Value{}, err
	}
	m.compiled.add(pattern, regexp)
	return regexp, nil
}

// newRegExp returns new RegExp(pattern, flags), which the caller frees.
func (m *machine) newRegExp(pattern, flags string) (quickjs.Value, error) {
	regexp, err := m.construct.CallValue(quickjs.UndefinedValue, pattern, flags)
	var thrown *quickjs.Error
	switch {
	case errors.As(err, &thrown) && thrown.Name == "SyntaxError":
		return regexp, &SyntaxError{Message: thrown.Message}
	case err != nil:
		return regexp, m.tooSlow(err)
	}
	return regexp, nil
}

// test reports whether the pattern matches anywhere in text.
func (m *machine) test(pattern, text string) (bool, error) {
	regexp, err := m.compile(pattern)
	if err != nil {
		return false, err
	}
	matches, err := m.match.Call(regexp, text)
	if err != nil {
		return false, m.tooSlow(err)
	}
	return matches == true, nil
}

// tooSlow returns the error of a call that ran out of time or memory, and marks the machine as broken.
func (m *machine) tooSlow(err error) error {
	m.broken = true
	return fmt.Errorf("%w: %w", ErrTooSlow, err)
}
