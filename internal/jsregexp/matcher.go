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

// The kinds of saved states.
const (
	bySplit = iota
	byAhead
	byNotAhead
)

// stateWords is how many words a saved state has: where the program and the text go on, and where the words of the state
// before it end, with its kind in the kindBits. The words above it are the values that registers had before they were
// overwritten, a register and its value each.
const stateWords, kindBits = 3, 2

// room is how many words an instruction may add, but for opReset: a value and a state.
const room = 2 + stateWords

// matcher runs programs by backtracking, one at a time.
type matcher struct {
	text             []uint16
	stack, registers []int32
}

// match reports whether the program matches anywhere in text, and how many of the steps are left. What a step is depends
// on the pattern and the text alone, and takes about the same time whatever is done: an instruction, or a number of words
// that are moved. The errors are ErrTooSlow and that of ctx.
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

// What is done in the time of a step, besides instructions: bytes of the text that are read, registers that are set, words
// of the stack that are new, words that are kept when a lookahead ends, characters of a reference that are compared. Words
// that are undone take undoneSteps for eight.
const (
	readBytes, readWords, grownWords, foundWords, comparedChars = 2, 4, 4, 32, 4
	undoneSteps                                                 = 3
	// failSteps are those of going back to a state.
	failSteps = 2
)

// undone returns the steps of words that are undone.
func undone(words int) (steps int) { return (words*undoneSteps + 4) / 8 }

// run is match for the text and the registers that m has.
//
//nolint:funlen // A function for each instruction, or their state in a struct, takes twice the time.
func (m *matcher) run(ctx context.Context, p *program, steps int) (matched bool, left int, err error) {
	code, sets, text, registers, stack := p.code, p.sets, m.text, m.registers, m.stack
	var pc, at, sp, bp int
	left = steps
	look := steps
	for {
		in := &code[pc]
		pc++
		if left -= int(in.cost); left < look {
			if left < 0 {
				return false, 0, fmt.Errorf("%w: more than %d steps", ErrTooSlow, steps)
			}
			if err := contextError(ctx); err != nil {
				return false, left, err
			}
			look = max(left-lookEvery, 0)
		}
		if sp+room > len(stack) {
			grown := 0
			if stack, grown, err = m.grow(sp + room); err != nil {
				return false, left, err
			}
			left -= grown
		}
		switch in.operation {
		case opMatch:
			return true, left, nil
		case opChar:
			if at < len(text) && uint32(text[at]) == in.value {
				at++
				continue
			}
		case opFoldedChar:
			if at < len(text) && uint32(p.folded[text[at]]) == in.value {
				at++
				continue
			}
		case opAny:
			if at < len(text) {
				at++
				continue
			}
		case opIn:
			if at < len(text) && sets[in.value].has(text[at]) {
				at++
				continue
			}
		case opFoldedIn:
			if at < len(text) && sets[in.value].has(p.folded[text[at]]) {
				at++
				continue
			}
		case opBack:
			if at > 0 {
				at--
				continue
			}
		case opStart:
			if at == 0 {
				continue
			}
		case opLineStart:
			if at == 0 || lineEnds.has(text[at-1]) {
				continue
			}
		case opEnd:
			if at == len(text) {
				continue
			}
		case opLineEnd:
			if at == len(text) || lineEnds.has(text[at]) {
				continue
			}
		case opBoundary, opNoBoundary:
			before := at > 0 && sets[in.value].has(text[at-1])
			after := at < len(text) && sets[in.value].has(text[at])
			if (before != after) == (in.operation == opBoundary) {
				continue
			}
		case opJump:
			pc = int(in.to)
			continue
		case opSplit, opAhead, opNotAhead:
			save(stack[sp:], int(in.other), at, bp, int(in.operation-opSplit))
			sp += stateWords
			bp, pc = sp, int(in.to)
			continue
		case opFound:
			moved := 0
			pc, at, sp, bp, moved = found(stack, sp, bp)
			left -= moved
			continue
		case opNotFound:
			for kind := bySplit; kind != byNotAhead; {
				left -= failSteps + undone(sp-bp)
				for ; sp > bp; sp -= 2 {
					registers[stack[sp-2]] = stack[sp-1]
				}
				kind, bp = unpack(stack[sp-1])
				sp -= stateWords
			}
		case opSave:
			stack[sp], stack[sp+1] = int32(in.register), registers[in.register]
			sp += 2
			registers[in.register] = int32(at)
			continue
		case opReset:
			n := int(in.value) - int(in.register) + 1
			if sp+2*n > len(stack) {
				grown := 0
				if stack, grown, err = m.grow(sp + 2*n); err != nil {
					return false, left, err
				}
				left -= grown
			}
			for i := range registers[in.register:][:n] {
				r := int(in.register) + i
				stack[sp], stack[sp+1] = int32(r), registers[r]
				sp += 2
				registers[r] = none
			}
			left -= n / readWords
			continue
		case opSaveOnce, opSet, opLoop, opSplitLoop, opLazySplitLoop, opAdvancingLoop, opLazyAdvancingLoop:
			r := int(in.register)
			old := registers[r]
			if !isSaved(stack, sp, bp, in.register) {
				stack[sp], stack[sp+1] = int32(r), old
				sp += 2
			}
			if in.operation == opSaveOnce {
				registers[r] = int32(at)
				continue
			}
			if in.operation == opSet {
				registers[r] = int32(in.value)
				continue
			}
			n := uint32(old - 1)
			registers[r] = int32(n)
			switch {
			case in.operation == opLoop:
				if n != 0 {
					pc = int(in.to)
				}
				continue
			case n > in.value:
				pc = int(in.to)
				continue
			case in.operation >= opAdvancingLoop && n != in.value && int(registers[r+1]) == at:
				// It fails.
			case n == 0:
				continue
			default:
				first, other := in.to, in.other
				if in.operation == opLazySplitLoop || in.operation == opLazyAdvancingLoop {
					first, other = other, first
				}
				save(stack[sp:], int(other), at, bp, bySplit)
				sp += stateWords
				bp, pc = sp, int(first)
				continue
			}
		case opAdvance:
			if int(registers[in.register]) != at {
				continue
			}
		case opReference, opFoldedReference, opBackward, opFoldedBackward:
			to, compared := m.refer(p, in, at)
			left -= compared / comparedChars
			if to >= 0 {
				at = to
				continue
			}
		}
		// It fails, and goes on at the state that was saved last.
		for kind := byAhead; kind == byAhead; {
			if bp == 0 {
				return false, left, nil
			}
			left -= failSteps + undone(sp-bp)
			for ; sp > bp; sp -= 2 {
				registers[stack[sp-2]] = stack[sp-1]
			}
			pc, at = int(stack[sp-3]), int(stack[sp-2])
			kind, bp = unpack(stack[sp-1])
			sp -= stateWords
		}
	}
}

// grow makes room for so many words. The steps are the same whether a match before had as many.
func (m *matcher) grow(words int) (stack []int32, steps int, err error) {
	if words > maxStack {
		return nil, 0, fmt.Errorf("%w: too many states", ErrTooSlow)
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
	return m.stack, n / grownWords, nil
}

func save(stack []int32, pc, at, bp, kind int) {
	_ = stack[stateWords-1]
	stack[0], stack[1], stack[2] = int32(pc), int32(at), int32(bp<<kindBits|kind)
}

// unpack returns the kind of a state, and where the words of the state before it end.
func unpack(word int32) (kind, bp int) {
	return int(word & (1<<kindBits - 1)), int(word >> kindBits)
}

// isSaved reports whether the value of a register is among those that were saved last. Only a few are looked at: to save
// a second one does no harm, and to look at all of them takes the square of the time.
func isSaved(stack []int32, sp, bp int, register uint16) bool {
	const most = 8
	for i := sp - 2; i >= max(bp, sp-2*most); i -= 2 {
		if stack[i] == int32(register) {
			return true
		}
	}
	return false
}

// found ends a lookahead: it drops the states since, and keeps the values that were overwritten, for what goes back to
// before it. It returns where to go on, and how many steps that was.
func found(stack []int32, sp, bp int) (pc, at, newSP, newBP, steps int) {
	top := sp
	for kind := bySplit; kind != byAhead; {
		above := sp
		sp = bp
		pc, at = int(stack[sp-3]), int(stack[sp-2])
		kind, bp = unpack(stack[sp-1])
		steps++
		stack[sp-1] = int32(above) // the end of its values, for the copy
		sp -= stateWords
	}
	if sp == 0 {
		return pc, at, sp, bp, steps // there is nothing to go back to
	}
	for from := sp; from < top; {
		above := int(stack[from+2])
		n := copy(stack[sp:], stack[from+stateWords:above])
		steps += 1 + n/foundWords
		sp += n
		from = above
	}
	return pc, at, sp, bp, steps
}

// refer returns where the text of the reference's group ends, or begins if it goes backward, from a place on; -1 if it does
// not stand there. compared is how many characters it looked at.
func (m *matcher) refer(p *program, in *instruction, at int) (to, compared int) {
	backward := in.operation == opBackward || in.operation == opFoldedBackward
	ignoreCase := in.operation == opFoldedReference || in.operation == opFoldedBackward
	for _, group := range p.groups[in.value] {
		first, last := int(m.registers[group]), int(m.registers[group+1])
		if first == none || last == none {
			continue
		}
		n := max(last-first, 0)
		to, from := at+n, at
		if backward {
			to, from = at-n, at-n
		}
		if from < 0 || from+n > len(m.text) {
			return -1, 0
		}
		for i := range n {
			a, b := m.text[first+i], m.text[from+i]
			if a != b && (!ignoreCase || p.folded[a] != p.folded[b]) {
				return -1, i
			}
		}
		return to, n
	}
	return at, 0
}
