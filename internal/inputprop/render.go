package inputprop

import (
	"errors"
	"strings"

	"slipway/internal/strictjson"
)

// render fills the templates in every string of a default; the result is nil where one cannot be
// filled.
func (r *resolver) render(fl *field, n *strictjson.Node) *strictjson.Node {
	if n.Kind == strictjson.String {
		return r.renderText(fl, n)
	}
	if len(n.Items) == 0 {
		return n
	}
	full := &strictjson.Node{Kind: n.Kind, Keys: n.Keys, Items: make([]*strictjson.Node, len(n.Items))}
	for i, item := range n.Items {
		r.Path.Push(n, i)
		full.Items[i] = r.render(fl, item)
		r.Path.Pop()
		if full.Items[i] == nil {
			return nil
		}
	}
	return full
}

// renderText fills a text. One template alone becomes what it stands for, whatever its type; within a
// text, only what people can read has a place.
func (r *resolver) renderText(fl *field, n *strictjson.Node) *strictjson.Node {
	pieces, err := ParseTemplate(n.Text)
	if err != nil {
		r.Fail("template_syntax", "%v", err)
		return nil
	}
	if r.isUnknown(pieces) {
		return r.leaveUnresolved(n)
	}
	if len(pieces) == 1 && pieces[0].Name != "" {
		return r.withinDepth(r.lookUp(fl, pieces[0].Name))
	}
	size := 0
	for i, p := range pieces {
		if p.Name != "" {
			value := r.lookUp(fl, p.Name)
			if value == nil {
				return nil
			}
			if value.Kind == strictjson.Object || value.Kind == strictjson.Array || value.Kind == strictjson.Null {
				r.Fail("template_type", "must have a text, a number or a boolean for %s within a text, found %s", p.Name, strictjson.Show(value))
				return nil
			}
			pieces[i].Text = plainText(value)
		}
		size += len(pieces[i].Text)
	}
	if !r.afford(size) {
		return nil
	}
	return nodeOf(joined(pieces, size))
}

// shallow is the value of an instance, nil where it would be nested too deep here.
func (r *resolver) withinDepth(n *strictjson.Node) *strictjson.Node {
	if n == nil || len(r.Path)+n.Levels() <= strictjson.MaxLevels {
		return n
	}
	r.Fail("max_depth", "must be nested at most %d levels deep, found %d in the chosen instance", strictjson.MaxLevels, len(r.Path)+n.Levels())
	return nil
}

// lookUp gives what a path stands for, nil where there is nothing. Before an instance is chosen that is
// no mistake: the value is asked for.
func (r *resolver) lookUp(fl *field, path string) *strictjson.Node {
	inside, isRef := strings.CutPrefix(path, RefRoot+".")
	if !isRef {
		text, ok := r.env.text(path)
		if !ok {
			r.Fail("template_unresolved", "must name what there is, found %s", strictjson.Quote(path))
			return nil
		}
		return nodeOf(text)
	}
	if r.instance == "" {
		return nil
	}
	if r.env.Ref == nil {
		fl.unknown = true
		return nil
	}
	return r.inside(fl, inside)
}

// inside asks for a path of the chosen instance once.
func (r *resolver) inside(fl *field, path string) *strictjson.Node {
	key := [2]string{r.instance, path}
	value, known := r.lookedUp[key]
	if !known {
		found, ok, err := r.env.Ref(r.ctx, r.instance, path)
		if errors.Is(err, ErrUnknownRef) || errors.Is(err, ErrNotLive) {
			fl.unknown, r.chosen.notLive = true, r.chosen.notLive || errors.Is(err, ErrNotLive)
			return nil
		}
		if err != nil {
			r.err = err
			return nil
		}
		if ok {
			value = found
		}
		if r.lookedUp == nil {
			r.lookedUp = map[[2]string]*strictjson.Node{}
		}
		r.lookedUp[key] = value
	}
	if value == nil {
		r.Fail("template_unresolved", "must have a value from the chosen instance, which has no %s", path)
		fl.unknown = true
	}
	return value
}
