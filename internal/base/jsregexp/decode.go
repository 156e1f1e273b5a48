package jsregexp

import (
	"encoding/binary"
	"errors"
	"fmt"

	lib "modernc.org/libquickjs"
)

// The header of QuickJS's bytecode has, at these places, how many groups, registers and bytes follow.
const (
	groupsAt, registersAt, lengthAt = 2, 3, 4
	headerLength                    = 8
)

// errBytecode is of bytecode of another compiler than the decoder knows.
var errBytecode = errors.New("jsregexp: unknown bytecode")

// decoder makes a program of bytecode: the instructions of QuickJS's libregexp-opcode.h.
type decoder struct {
	*program
	rest []byte
	at   int32
	// indices are those of the instructions, by their places in the bytecode; known those of the sets, by how they are
	// written there.
	indices map[int32]int32
	known   map[string]uint32
	err     error
}

// decode returns the program of a bytecode.
func decode(bytecode []byte) (*program, error) {
	if len(bytecode) < headerLength {
		return nil, errBytecode
	}

	rest := bytecode[headerLength:]
	length := int(binary.LittleEndian.Uint32(bytecode[lengthAt:]))
	if length > len(rest) {
		return nil, errBytecode
	}

	captures := 2 * int(bytecode[groupsAt])
	d := &decoder{
		program: &program{captures: captures, registers: captures + int(bytecode[registersAt])},
		rest:    rest[:length], indices: map[int32]int32{}, known: map[string]uint32{},
	}

	for len(d.rest) > 0 && d.err == nil {
		d.indices[d.at] = int32(len(d.code))
		in := d.next()
		in.cost = costs[in.operation]
		d.code = append(d.code, in)
	}

	d.link()
	return d.program, d.err
}

// link checks the instructions, and has them go on at indices instead of places in the bytecode.
func (d *decoder) link() {
	if n := len(d.code); n == 0 || d.code[n-1].operation != opMatch {
		d.fail("no end")
	}
	for i := range d.code {
		in := &d.code[i]
		in.to, in.other = d.index(in.to), d.index(in.other)
		if int(in.register) >= d.registers || in.operation == opReset && int(in.value) >= d.captures {
			d.fail("a register beyond the %d that there are", d.registers)
		}
	}
	d.mergeJumps()
}

// index returns the index of the instruction at a place in the bytecode.
func (d *decoder) index(at int32) int32 {
	index, ok := d.indices[at]
	if !ok {
		d.fail("a jump to %d", at)
	}
	return index
}

// mergeJumps makes a jump to a split a split itself, which saves a step in each round of a loop.
func (d *decoder) mergeJumps() {
	for i, in := range d.code {
		if to := d.code[in.to]; in.operation == opJump && to.operation == opSplit {
			d.code[i] = to
		}
	}
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errBytecode, fmt.Sprintf(format, args...))
	}
}

// simple are the instructions without operands.
var simple = map[uint32]operation{
	lib.EREOP_match: opMatch, lib.EREOP_any: opAny, lib.EREOP_prev: opBack,
	lib.EREOP_line_start: opStart, lib.EREOP_line_start_m: opLineStart,
	lib.EREOP_line_end: opEnd, lib.EREOP_line_end_m: opLineEnd,
	lib.EREOP_lookahead_match: opFound, lib.EREOP_negative_lookahead_match: opNotFound,
}

// named are the instructions that have a known set.
var named = map[uint32]struct {
	operation operation
	set       *set
}{
	lib.EREOP_dot:                 {opIn, inLine},
	lib.EREOP_space:               {opIn, spaces},
	lib.EREOP_not_space:           {opIn, notSpaces},
	lib.EREOP_word_boundary:       {opBoundary, words},
	lib.EREOP_word_boundary_i:     {opBoundary, wordsOfAnyCase},
	lib.EREOP_not_word_boundary:   {opNoBoundary, words},
	lib.EREOP_not_word_boundary_i: {opNoBoundary, wordsOfAnyCase},
}

// next reads an instruction.
func (d *decoder) next() instruction {
	op := d.number(1)
	if operation, ok := simple[op]; ok {
		return instruction{operation: operation}
	}
	if in, ok := named[op]; ok {
		return instruction{operation: in.operation, value: d.setOf(string(rune(op)), in.set)}
	}

	switch op {
	case lib.EREOP_char:
		return instruction{operation: opChar, value: d.number(2)}
	case lib.EREOP_char_i:
		d.folded = folded()
		return instruction{operation: opFoldedChar, value: d.number(2)}
	case lib.EREOP_char32, lib.EREOP_char32_i: // beyond the code units, so that none is it
		d.number(4)
		return instruction{operation: opIn, value: d.setOf("", newSet())}
	case lib.EREOP_range, lib.EREOP_range32:
		return d.class(opIn, op == lib.EREOP_range32)
	case lib.EREOP_range_i, lib.EREOP_range32_i:
		d.folded = folded()
		return d.class(opFoldedIn, op == lib.EREOP_range32_i)
	case lib.EREOP_back_reference, lib.EREOP_back_reference_i,
		lib.EREOP_backward_back_reference, lib.EREOP_backward_back_reference_i:
		return d.reference(opReference + operation(op-lib.EREOP_back_reference))
	}

	return d.nextOfFlow(op)
}

// nextOfFlow reads the rest of an instruction that says where to go on, or that sets a register.
func (d *decoder) nextOfFlow(op uint32) (in instruction) {
	switch op {
	case lib.EREOP_goto:
		in = instruction{operation: opJump, to: d.target()}
	case lib.EREOP_split_goto_first:
		in = instruction{operation: opSplit, to: d.target(), other: d.place()}
	case lib.EREOP_split_next_first:
		in = instruction{operation: opSplit, other: d.target(), to: d.place()}
	case lib.EREOP_lookahead:
		in = instruction{operation: opAhead, other: d.target(), to: d.place()}
	case lib.EREOP_negative_lookahead:
		in = instruction{operation: opNotAhead, other: d.target(), to: d.place()}
	case lib.EREOP_save_start:
		in = instruction{operation: opSave, register: uint16(2 * d.number(1))}
	case lib.EREOP_save_end:
		in = instruction{operation: opSave, register: uint16(2*d.number(1) + 1)}
	case lib.EREOP_save_reset:
		in = instruction{operation: opReset, register: uint16(2 * d.number(1)), value: 2*d.number(1) + 1}
	case lib.EREOP_set_char_pos:
		in = instruction{operation: opSaveOnce, register: d.counter()}
	case lib.EREOP_set_i32:
		in = instruction{operation: opSet, register: d.counter(), value: d.number(4)}
	case lib.EREOP_check_advance:
		in = instruction{operation: opAdvance, register: d.counter()}
	case lib.EREOP_loop:
		in = instruction{operation: opLoop, register: d.counter(), to: d.target(), other: d.place()}
	case lib.EREOP_loop_split_goto_first, lib.EREOP_loop_split_next_first,
		lib.EREOP_loop_check_adv_split_goto_first, lib.EREOP_loop_check_adv_split_next_first:
		in = instruction{
			operation: opSplitLoop + operation(op-lib.EREOP_loop_split_goto_first),
			register:  d.counter(), value: d.number(4), to: d.target(), other: d.place(),
		}
	default:
		d.fail("instruction %d", op)
	}

	return in
}

// class reads the ranges of a class, of 32 or of 16 bits.
func (d *decoder) class(op operation, wide bool) instruction {
	width := 2
	if wide {
		width = 4
	}
	n := 2 * int(d.number(2))
	if n*width > len(d.rest) {
		d.fail("a class of %d characters", n)
		return instruction{}
	}
	written := string(d.rest[:n*width])
	ranges := make([]uint32, n)
	for i := range ranges {
		ranges[i] = d.number(width)
	}
	return instruction{operation: op, value: d.setOf(fmt.Sprint(width)+written, newSet(ranges...))}
}

// setOf returns the index of a set, which the program has once.
func (d *decoder) setOf(written string, s *set) uint32 {
	index, ok := d.known[written]
	if !ok {
		index = uint32(len(d.sets))
		d.known[written] = index
		d.sets = append(d.sets, s)
	}
	return index
}

// reference reads the groups of a reference.
func (d *decoder) reference(op operation) instruction {
	if op == opFoldedReference || op == opFoldedBackward {
		d.folded = folded()
	}
	groups := make([]uint16, d.number(1))
	for i := range groups {
		groups[i] = uint16(2 * d.number(1))
		if int(groups[i]) >= d.captures {
			d.fail("a reference to group %d of %d", groups[i]/2, d.captures/2)
		}
	}
	d.groups = append(d.groups, groups)
	return instruction{operation: op, value: uint32(len(d.groups) - 1)}
}

// number reads a number of so many bytes, 4 at most; 0 if the bytecode ends before.
func (d *decoder) number(bytes int) (n uint32) {
	if bytes > len(d.rest) {
		d.fail("it ends at %d", d.at)
		d.rest = nil
		return 0
	}
	for i, b := range d.rest[:bytes] {
		n |= uint32(b) << (8 * i)
	}
	d.rest = d.rest[bytes:]
	d.at += int32(bytes)
	return n
}

// counter reads the register of a loop. They follow those of the groups.
func (d *decoder) counter() uint16 { return uint16(d.captures) + uint16(d.number(1)) }

// target reads a place in the bytecode, which is written as the distance from what follows it.
func (d *decoder) target() int32 {
	distance := int32(d.number(4))
	return d.at + distance
}

// place returns where the next instruction is.
func (d *decoder) place() int32 { return d.at }
