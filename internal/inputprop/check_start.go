package inputprop

import "slipway/internal/strictjson"

// start checks a default: its templates, and where it has none, that the input takes it. Whether
// something is left to be filled in is not asked of it.
func (c *checker) checkDefault(p Property) {
	s := p.InitialValue()
	if s.First {
		if v, ok := p.ValueSource().(*StaticValues); p.ValueSource() == nil || ok && len(v.Options) == 0 {
			c.FailMember("default", "values_first", "must stand beside values of which there is a first, found none")
		}
	}
	if s.Node == nil {
		return
	}
	c.Path.PushKey("default")
	defer c.Path.Pop()
	if !s.Verbatim {
		c.templates(s.Node)
	}
	c.checkValue(p, s.Node)
}

// templates checks those in every string of a default.
func (c *checker) templates(n *strictjson.Node) {
	if n.Kind == strictjson.String {
		c.template(n.Text)
	}
	for i, item := range n.Items {
		c.Path.Push(n, i)
		c.templates(item)
		c.Path.Pop()
	}
}

func (c *checker) template(text string) {
	pieces, err := ParseTemplate(text)
	switch {
	case err == nil:
	case c.IsSecret():
		c.Fail("template_syntax", "must close every ${{ with }} behind a path such as project.slug")
	default:
		c.Fail("template_syntax", "%v", err)
	}
	for _, p := range pieces {
		if p.Name == "" {
			continue
		}
		if rule, message := pathFlaw(p.Name, c.mapped); rule != "" {
			c.Fail(rule, "%s", message)
		}
	}
}

// takes judges the default as a value, by the same rules as those that are entered.
func (c *checker) checkValue(p Property, value *strictjson.Node) {
	r := &resolver{Collector: strictjson.NewCollector(""), ctx: c.ctx, env: &Env{}, saving: true}
	fl := &field{in: NewLevelInput(p), visible: true, entered: value, value: value}
	r.collection(fl)
	j := c.judge()
	j.value(fl, nil)
	j.entries(fl)
}

// judge is one for defaults and values that are saved with an input.
func (c *checker) judge() *validator {
	return &validator{Collector: c.Collector, match: c.match, saving: true, released: c.released}
}
