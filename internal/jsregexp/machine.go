package jsregexp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"modernc.org/quickjs"
)

// machineMemory is what one machine may take, in bytes.
const machineMemory = 32 << 20

// machine is one virtual machine and the patterns it has compiled. Only one goroutine may use it at a time.
type machine struct {
	vm *quickjs.VM
	// construct is (pattern, flags) => new RegExp(pattern, flags), and match is RegExp.prototype.test.
	construct, match quickjs.Value
	compiled         cache
	// broken is set once a call ran out of its time or its memory, which may leave anything behind.
	broken bool
}

func newMachine() (*machine, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("start a machine for regular expressions: %w", err)
	}
	m := &machine{vm: vm}
	if m.construct, err = vm.EvalValue(`(pattern, flags) => new RegExp(pattern, flags)`, quickjs.EvalGlobal); err == nil {
		m.match, err = vm.EvalValue(`RegExp.prototype.test`, quickjs.EvalGlobal)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a machine for regular expressions: %w", err), m.close())
	}
	vm.SetMemoryLimit(machineMemory)
	return m, nil
}

// close frees the machine. Every value of it goes first, as it must.
func (m *machine) close() error {
	m.compiled.clear()
	m.construct.Free()
	m.match.Free()
	return m.vm.Close()
}

// allow sets the time of the calls that follow, which ends with ctx at the latest.
func (m *machine) allow(ctx context.Context) error {
	left := matchTime
	if end, ok := ctx.Deadline(); ok {
		// Zero would stand for no limit.
		left = min(left, max(time.Until(end), 1))
	}
	return m.vm.SetEvalTimeout(left)
}

// compile is the pattern as a RegExp, which stays the machine's.
func (m *machine) compile(pattern string) (quickjs.Value, error) {
	if regexp, ok := m.compiled.get(pattern); ok {
		return regexp, nil
	}
	if err := readable(pattern); err != nil {
		return quickjs.Value{}, err
	}
	plain, err := repaired(pattern)
	if err != nil {
		return quickjs.Value{}, err
	}
	regexp, err := m.constructed(plain, "")
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

// constructed is new RegExp(pattern, flags), for the caller to free.
func (m *machine) constructed(pattern, flags string) (quickjs.Value, error) {
	regexp, err := m.construct.CallValue(quickjs.UndefinedValue, pattern, flags)
	var thrown *quickjs.Error
	switch {
	case errors.As(err, &thrown) && thrown.Name == "SyntaxError":
		return regexp, &SyntaxError{Message: thrown.Message}
	case err != nil:
		return regexp, m.gaveUp(err)
	}
	return regexp, nil
}

func (m *machine) test(pattern, text string) (bool, error) {
	regexp, err := m.compile(pattern)
	if err != nil {
		return false, err
	}
	matches, err := m.match.Call(regexp, text)
	if err != nil {
		return false, m.gaveUp(err)
	}
	return matches == true, nil
}

func (m *machine) gaveUp(err error) error {
	m.broken = true
	return fmt.Errorf("%w: %w", ErrTooSlow, err)
}
