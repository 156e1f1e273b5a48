package jsregexp

import "fmt"

// state is how far a match is: pc is where the program goes on, at where the text does. The words of the stack end at
// sp; those of the state that was saved last end at bp. It has no more than four fields, because that is what the
// compiler keeps in registers.
type state struct{ pc, at, sp, bp int }

// The kinds of saved states.
const (
	bySplit = iota
	byAhead
	byNotAhead
)

// stateWords is how many words a saved state has: pc, at, and bp with its kind in the kindBits. The words above it are
// the values that registers had before they were overwritten, a register and its value each.
const stateWords, kindBits = 3, 2

// room is how many words an instruction may add, but for opReset: a value and a state.
const room = 2 + stateWords

// grow makes room for so many words, and returns how many steps are left then. They are the same whether a match before
// had as many.
func (m *matcher) grow(words, left int) (int, error) {
	if words <= len(m.stack) {
		return left, nil
	}
	if words > maxStack {
		return left, fmt.Errorf("%w: too many states", ErrTooSlow)
	}
	n := max(len(m.stack), firstStack)
	for n < words {
		n *= 2
	}
	if n <= cap(m.stack) {
		m.stack = m.stack[:n]
	} else {
		stack := make([]int32, n)
		copy(stack, m.stack)
		m.stack = stack
	}
	return left - n/grownWords, nil
}

// split goes on at to, and saves a state of the kind that goes on at other.
func (m *matcher) split(s state, to, other int32, kind int) state {
	words := m.stack[s.sp:][:stateWords]
	words[0], words[1], words[2] = other, int32(s.at), int32(s.bp<<kindBits|kind)
	end := s.sp + stateWords
	return state{pc: int(to), at: s.at, sp: end, bp: end}
}

// undo gives the registers the values that they had when the last state was saved. It returns the steps of that and of
// going back to the state.
func (m *matcher) undo(s state) (steps int) {
	stack, registers := m.stack, m.registers
	for i := s.sp; i > s.bp; i -= 2 {
		registers[stack[i-2]] = stack[i-1]
	}
	return failSteps + undone(s.sp-s.bp)
}

// undone returns the steps of words that are undone.
func undone(words int) (steps int) { return (words*undoneSteps + 4) / 8 }

// saved returns the state whose words end at bp, and its kind.
func (m *matcher) saved(bp int) (s state, kind int) {
	words := m.stack[bp-stateWords:][:stateWords]
	s = state{pc: int(words[0]), at: int(words[1]), sp: bp - stateWords, bp: int(words[2] >> kindBits)}
	return s, int(words[2] & (1<<kindBits - 1))
}

// fail goes back to the state that was saved last, but for those of lookaheads, which fail as what they look for does.
// goesOn is whether there is such a state.
func (m *matcher) fail(s state, left int) (saved state, stepsLeft int, goesOn bool) {
	for kind := byAhead; kind == byAhead; {
		if s.bp == 0 {
			return s, left, false
		}
		left -= m.undo(s)
		s, kind = m.saved(s.bp)
	}
	return s, left, true
}

// notFound goes back to where a negative lookaround begins, which fails, because what it looked for was found.
func (m *matcher) notFound(s state, left int) (begin state, stepsLeft int) {
	for kind := bySplit; kind != byNotAhead; {
		left -= m.undo(s)
		s, kind = m.saved(s.bp)
	}
	return s, left
}

// found goes on after a lookahead: it drops the states since, and keeps the values that were overwritten, for what goes
// back to before it.
func (m *matcher) found(s state, left int) (after state, stepsLeft int) {
	top := s.sp
	for kind := bySplit; kind != byAhead; {
		above, bp := s.sp, s.bp
		s, kind = m.saved(bp)
		left--
		m.stack[bp-1] = int32(above) // the end of its values, for the copy
	}
	if s.sp == 0 {
		return s, left // there is nothing to go back to
	}
	for from := s.sp; from < top; {
		above := int(m.stack[from+2])
		n := copy(m.stack[s.sp:], m.stack[from+stateWords:above])
		left -= 1 + n/foundWords
		s.sp += n
		from = above
	}
	return s, left
}

// set sets a register, and keeps the value that it had.
func (m *matcher) set(s state, register uint16, value int) state {
	m.stack[s.sp], m.stack[s.sp+1] = int32(register), m.registers[register]
	s.sp += 2
	m.registers[register] = int32(value)
	return s
}

// setAgain is set for a register whose value may be kept already, because a loop sets it in each round.
func (m *matcher) setAgain(s state, register uint16, value int) state {
	if !m.isKept(s, register) {
		return m.set(s, register, value)
	}
	m.registers[register] = int32(value)
	return s
}

// isKept reports whether the value of a register is among those that were kept last. Only a few are looked at: to keep
// a second one does no harm, and to look at all of them takes the square of the time.
func (m *matcher) isKept(s state, register uint16) bool {
	const most = 8
	stack, first := m.stack, max(s.bp, s.sp-2*most)
	for i := s.sp - 2; i >= first; i -= 2 {
		if stack[i] == int32(register) {
			return true
		}
	}
	return false
}

// reset sets all registers of an opReset.
func (m *matcher) reset(s state, in *instruction, left int) (after state, stepsLeft int, err error) {
	n := int(in.value) - int(in.register) + 1
	if left, err = m.grow(s.sp+2*n, left); err != nil {
		return s, left, err
	}
	for i := range n {
		s = m.set(s, in.register+uint16(i), none)
	}
	return s, left - n/readWords, nil
}

// loop counts a round of a loop, and goes on with the next round, behind the loop, or with either. goesOn is false
// after a round that has taken nothing and need not be.
func (m *matcher) loop(s state, in *instruction) (after state, goesOn bool) {
	n := uint32(m.registers[in.register] - 1)
	s = m.setAgain(s, in.register, int(n))
	switch {
	case n > in.value: // which is 0 for opLoop
		s.pc = int(in.to)
	case in.operation >= opAdvancingLoop && n != in.value && int(m.registers[in.register+1]) == s.at:
		return s, false
	case n == 0:
	case in.operation == opLazySplitLoop || in.operation == opLazyAdvancingLoop:
		s = m.split(s, in.other, in.to, bySplit)
	default:
		s = m.split(s, in.to, in.other, bySplit)
	}
	return s, true
}
