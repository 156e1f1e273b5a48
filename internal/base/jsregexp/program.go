package jsregexp

// operation is what an instruction does.
type operation uint8

const (
	// opMatch ends a match.
	opMatch operation = iota
	// opChar, opAny and opIn take a character: the value, any, one of the set; opFoldedChar and opFoldedIn without regard
	// to case.
	opChar
	opFoldedChar
	opAny
	opIn
	opFoldedIn
	// opBack goes back by a character.
	opBack
	// opStart, opEnd, opLineStart and opLineEnd hold at the ends of the text or of a line; opBoundary and opNoBoundary
	// between two characters of which one is in the set.
	opStart
	opEnd
	opLineStart
	opLineEnd
	opBoundary
	opNoBoundary
	opJump
	// opSplit goes on at to, and at other if that fails. opAhead and opNotAhead begin a lookaround at to, after which it
	// goes on at other; opFound and opNotFound end it. The three stand in the order of the kinds of states.
	opSplit
	opAhead
	opNotAhead
	opFound
	opNotFound
	// opSave has the register be the place in the text, opSaveOnce as well; opSet has it be the value, opReset all up to
	// that of the value be none.
	opSave
	opSaveOnce
	opSet
	opReset
	// opLoop counts the register down and goes on at to until it is 0. The others do until it is the value, and from there
	// on split: lazy ones go on at other first. Advancing ones fail if nothing was taken since opSaveOnce of the next
	// register. The four stand in QuickJS's order.
	opLoop
	opSplitLoop
	opLazySplitLoop
	opAdvancingLoop
	opLazyAdvancingLoop
	// opAdvance fails if nothing was taken since opSaveOnce of the register.
	opAdvance
	// The references take what the first of the groups has that has anything; those backward before the place. They
	// stand in QuickJS's order.
	opReference
	opFoldedReference
	opBackward
	opFoldedBackward
)

// costs are how many steps the instructions take, as they were measured: a step is 3 to 5 ns. What they move or undo is
// counted besides.
var costs = [...]uint8{
	opMatch: 1,
	opChar:  1, opFoldedChar: 2, opAny: 3, opIn: 2, opFoldedIn: 3, opBack: 1,
	opStart: 1, opEnd: 1, opLineStart: 2, opLineEnd: 2, opBoundary: 3, opNoBoundary: 3,
	opJump: 1, opSplit: 4, opAhead: 3, opNotAhead: 4, opFound: 8, opNotFound: 6,
	opSave: 2, opSaveOnce: 2, opSet: 3, opReset: 3,
	opLoop: 3, opSplitLoop: 6, opLazySplitLoop: 6, opAdvancingLoop: 5, opLazyAdvancingLoop: 5, opAdvance: 1,
	opReference: 5, opFoldedReference: 6, opBackward: 5, opFoldedBackward: 6,
}

// instruction is what a matcher does at a time, and the steps that takes. to and other are where it goes on; value is a
// character, a number, or the index of a set or of the groups of a reference.
type instruction struct {
	operation operation
	cost      uint8
	register  uint16
	to, other int32
	value     uint32
}

// program is a pattern as instructions, which a matcher runs. It is not changed once it is made.
type program struct {
	code []instruction
	sets []*set
	// groups are those of each reference.
	groups [][]uint16
	// captures is how many values a match has for the ends of groups, and registers how many in all.
	captures, registers int
	// taken is how many steps its compilation counts as.
	taken int
	// folded is nil where case is regarded.
	folded *[1 << 16]uint16
}

// size returns about how many bytes the program takes.
func (p *program) size() int {
	const ofProgram, ofInstruction, ofSet, ofGroups = 256, 16, 64, 32
	size := ofProgram + ofInstruction*len(p.code) + ofGroups*len(p.groups)
	for _, s := range p.sets {
		size += ofSet + 2*len(s.ranges)
	}
	return size
}
