package jsregexp

import (
	"context"
	"fmt"
	"unicode/utf16"
)

// MaxSteps is how many steps one match may take: 45 to 80 ms, by what they are.
const MaxSteps = 15_000_000

const (
	// none is the value of an end of a group that has none.
	none = -1
	// maxStack is how many words the stack of a match may have, 16 MiB of them.
	maxStack = 4 << 20
	// firstStack is how many words the stack has at first. It grows to twice as many, up to maxStack.
	firstStack = 256
	// keptStack is how many words of its stack a matcher keeps for the next match.
	keptStack = 256 << 10
	// keptText is how many characters of a text it keeps room for.
	keptText = 64 << 10
	// lookEvery is after how many steps a match looks whether its context has ended, some 0.1 ms.
	lookEvery = 32 << 10
)

// matcher runs programs by backtracking, one at a time.
type matcher struct {
	text             []uint16
	stack, registers []int32
	// steps is how many the match may take, and lookAt how many are left when it looks at its context next.
	steps, lookAt int
}

// match reports whether the program matches anywhere in text, and how many of the steps are left. A step depends on the
// pattern and the text alone, and takes about the same time whatever is done: an instruction, or a number of words that
// are moved. The errors are ErrTooSlow and that of ctx.
func (m *matcher) match(ctx context.Context, p *program, text string, steps int) (matched bool, left int, err error) {
	m.text = m.text[:0]
	for _, r := range text {
		m.text = utf16.AppendRune(m.text, r)
	}

	m.registers = m.registers[:0]
	for i := range p.registers {
		value := int32(0)
		if i < p.captures {
			value = none
		}
		m.registers = append(m.registers, value)
	}

	m.stack = m.stack[:0]
	matched, left, err = m.run(ctx, p, steps-len(text)/readBytes-p.registers/readWords)

	if cap(m.stack) > keptStack {
		m.stack = nil
	}
	if cap(m.text) > keptText {
		m.text = nil
	}
	return matched, max(left, 0), err
}

// How much is done in the time of a step, besides instructions: bytes of the text that are read, registers that are
// set, words of the stack that are new, words that are kept when a lookahead ends, characters of a reference that are
// compared. Words that are undone take undoneSteps for eight.
const (
	readBytes, readWords, grownWords, foundWords, comparedChars = 2, 4, 4, 32, 4
	undoneSteps                                                 = 3
	// failSteps are those of going back to a state.
	failSteps = 2
)

// run is match for the text and the registers that m has.
//
//nolint:funlen // A flat list of the instructions; a call for each of the short ones costs up to a fifth of the time.
func (m *matcher) run(ctx context.Context, p *program, steps int) (matched bool, left int, err error) {
	m.steps, m.lookAt, left = steps, steps, steps
	text := m.text
	var s state

	for {
		in := &p.code[s.pc]
		s.pc++
		if left -= int(in.cost); left < m.lookAt || s.sp+room > len(m.stack) {
			if left, err = m.check(ctx, s, left); err != nil {
				return false, left, err
			}
		}

		goesOn := true
		switch in.operation {
		case opMatch:
			return true, left, nil
		case opChar:
			goesOn = charAt(text, s.at) == in.value
			s.at++
		case opFoldedChar:
			goesOn = p.foldedAt(text, s.at) == in.value
			s.at++
		case opAny:
			goesOn = s.at < len(text)
			s.at++
		case opIn:
			goesOn = p.sets[in.value].has(charAt(text, s.at))
			s.at++
		case opFoldedIn:
			goesOn = p.sets[in.value].has(p.foldedAt(text, s.at))
			s.at++
		case opBack:
			s.at--
			goesOn = s.at >= 0
		case opStart, opEnd, opLineStart, opLineEnd, opBoundary, opNoBoundary:
			goesOn = p.asserts(in, text, s.at)
		case opJump:
			s.pc = int(in.to)
		case opSplit, opAhead, opNotAhead:
			s = m.split(s, in.to, in.other, int(in.operation-opSplit))
		case opFound:
			s, left = m.found(s, left)
		case opNotFound:
			s, left = m.notFound(s, left)
			goesOn = false
		case opSave:
			s = m.set(s, in.register, s.at)
		case opReset:
			if s, left, err = m.reset(s, in, left); err != nil {
				return false, left, err
			}
		case opSaveOnce:
			s = m.setAgain(s, in.register, s.at)
		case opSet:
			s = m.setAgain(s, in.register, int(in.value))
		case opLoop, opSplitLoop, opLazySplitLoop, opAdvancingLoop, opLazyAdvancingLoop:
			s, goesOn = m.loop(s, in)
		case opAdvance:
			goesOn = int(m.registers[in.register]) != s.at
		case opReference, opFoldedReference, opBackward, opFoldedBackward:
			s, left, goesOn = m.refer(s, p, in, left)
		}

		if goesOn {
			continue
		}
		if s, left, goesOn = m.fail(s, left); !goesOn {
			return false, left, nil
		}
	}
}

// check looks whether the steps or the context have ended, and makes room on the stack for an instruction. It returns
// how many steps are left then.
func (m *matcher) check(ctx context.Context, s state, left int) (int, error) {
	if left < 0 {
		return 0, fmt.Errorf("%w: more than %d steps", ErrTooSlow, m.steps)
	}
	if left < m.lookAt {
		if err := contextError(ctx); err != nil {
			return left, err
		}
		m.lookAt = max(left-lookEvery, 0)
	}
	return m.grow(s.sp+room, left)
}

// noChar is what is before and behind a text: no character, and in no set.
const noChar = 1 << 16

// charAt returns the character at a place of a text.
func charAt(text []uint16, at int) uint32 {
	if uint(at) < uint(len(text)) {
		return uint32(text[at])
	}
	return noChar
}

// foldedAt is charAt without regard to case.
func (p *program) foldedAt(text []uint16, at int) uint32 {
	if uint(at) < uint(len(text)) {
		return uint32(p.folded[text[at]])
	}
	return noChar
}

// asserts reports whether what an instruction asserts of a place in a text is so.
func (p *program) asserts(in *instruction, text []uint16, at int) bool {
	before, behind := charAt(text, at-1), charAt(text, at)
	switch in.operation { //nolint:exhaustive // the others assert nothing
	case opStart:
		return before == noChar
	case opEnd:
		return behind == noChar
	case opLineStart:
		return before == noChar || lineEnds.has(before)
	case opLineEnd:
		return behind == noChar || lineEnds.has(behind)
	case opBoundary:
		return p.sets[in.value].has(before) != p.sets[in.value].has(behind)
	default: // opNoBoundary
		return p.sets[in.value].has(before) == p.sets[in.value].has(behind)
	}
}

// refer goes over the text of the reference's group, backward if the reference does. goesOn is whether it stands there.
func (m *matcher) refer(s state, p *program, in *instruction, left int) (after state, stepsLeft int, goesOn bool) {
	taken := m.taken(p.groups[in.value])
	from, to := s.at, s.at+len(taken)
	if in.operation == opBackward || in.operation == opFoldedBackward {
		from, to = s.at-len(taken), s.at-len(taken)
	}
	if from < 0 || from+len(taken) > len(m.text) {
		return s, left, false
	}
	s.at = to
	n := p.common(taken, m.text[from:], in.operation == opFoldedReference || in.operation == opFoldedBackward)
	return s, left - n/comparedChars, n == len(taken)
}

// taken returns what the first of the groups has that has anything.
func (m *matcher) taken(groups []uint16) []uint16 {
	for _, group := range groups {
		if first, last := m.registers[group], m.registers[group+1]; first != none && last != none {
			return m.text[first:max(first, last)]
		}
	}
	return nil
}

// common returns how many characters of a text another one begins with, which is no shorter.
func (p *program) common(text, other []uint16, ignoreCase bool) int {
	for i, c := range text {
		if c != other[i] && (!ignoreCase || p.folded[c] != p.folded[other[i]]) {
			return i
		}
	}
	return len(text)
}
