package inputprop

import (
	"slices"

	"slipway/internal/strictjson"

	"slipway/internal/fault"
)

// dependencies are the inputs of the level whose values decide on this one.
func (p *plan) dependencies(in *planned) []*planned {
	var list []*planned
	if in.owner != nil {
		list = append(list, in.owner)
	}
	for _, c := range in.conditions {
		list = append(list, c.source)
	}
	if ref := DynamicRef(in.property); ref != nil {
		for _, name := range ref.paramNames() {
			list = append(list, p.byID[ref.Params[name].Input])
		}
	}
	return slices.DeleteFunc(list, func(other *planned) bool { return other == nil || other == in })
}

// The states of a sorter's inputs; 0 is one that it has not come to.
const (
	under = 1 + iota
	done
)

type sorter struct {
	*plan
	state []byte
	way   []*planned
}

func (s *sorter) visit(in *planned) {
	switch s.state[in.index] {
	case done:
		return
	case under:
		s.close(in)
		return
	}
	s.state[in.index] = under
	s.way = append(s.way, in)
	for _, other := range s.dependencies(in) {
		s.visit(other)
	}
	s.way = s.way[:len(s.way)-1]
	s.state[in.index] = done
	s.order = append(s.order, in)
}

// close notes the circle that the last of the way closes by coming back to an input.
func (s *sorter) close(in *planned) {
	if len(s.loops) == fault.MaxViolations {
		return
	}
	var ids []string
	for _, on := range s.way[slices.Index(s.way, in):] {
		ids = append(ids, strictjson.Short(on.id))
	}
	s.loops = append(s.loops, loop{s.way[len(s.way)-1], append(ids, strictjson.Short(in.id))})
}
