package inputprop

import (
	"slices"

	"slipway/internal/strictjson"

	"slipway/internal/fault"
)

// dependencies are the inputs of the level whose values decide on this one.
func (l *SchemaLevel) dependencies(in *LevelInput) []*LevelInput {
	var list []*LevelInput
	if in.Owner != nil {
		list = append(list, in.Owner)
	}
	for _, c := range in.Conditions {
		list = append(list, c.Source)
	}
	if ref := DynamicRef(in.Property); ref != nil {
		for _, name := range ref.ParamNames() {
			list = append(list, l.ByID[ref.Params[name].Input])
		}
	}
	return slices.DeleteFunc(list, func(other *LevelInput) bool { return other == nil || other == in })
}

// The states of a sorter's inputs; 0 is one that it has not come to.
const (
	under = 1 + iota
	done
)

type sorter struct {
	*SchemaLevel
	state []byte
	way   []*LevelInput
}

func (s *sorter) visit(in *LevelInput) {
	switch s.state[in.Index] {
	case done:
		return
	case under:
		s.close(in)
		return
	}
	s.state[in.Index] = under
	s.way = append(s.way, in)
	for _, other := range s.dependencies(in) {
		s.visit(other)
	}
	s.way = s.way[:len(s.way)-1]
	s.state[in.Index] = done
	s.Order = append(s.Order, in)
}

// close notes the circle that the last of the way closes by coming back to an input.
func (s *sorter) close(in *LevelInput) {
	if len(s.Loops) == fault.MaxViolations {
		return
	}
	var ids []string
	for _, on := range s.way[slices.Index(s.way, in):] {
		ids = append(ids, strictjson.Short(on.ID))
	}
	s.Loops = append(s.Loops, Loop{s.way[len(s.way)-1], append(ids, strictjson.Short(in.ID))})
}
