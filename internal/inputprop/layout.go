package inputprop

import (
	"reflect"
	"strings"
	"sync"
)

// layout is what the decoder knows of a struct type: its members by name, those of embedded structs
// among them.
type layout struct {
	members []member
	index   map[string]int
	names   []string
}

type member struct {
	name  string
	path  []int
	rules *rules
}

var layouts sync.Map // of reflect.Type to *layout

func layoutOf(t reflect.Type) *layout {
	if known, ok := layouts.Load(t); ok {
		return known.(*layout)
	}
	l := &layout{index: map[string]int{}}
	l.collect(t, nil)
	known, _ := layouts.LoadOrStore(t, l)
	return known.(*layout)
}

func (l *layout) collect(t reflect.Type, path []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(path[:len(path):len(path)], i)
		if f.Anonymous {
			l.collect(f.Type, at)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		l.index[name] = len(l.members)
		l.names = append(l.names, name)
		l.members = append(l.members, member{name, at, parseRules(f.Tag.Get("ip"))})
	}
}
