package inputprop

// patterns checks the patterns themselves.
func (c *checker) patterns(list []ValidationPattern) {
	c.at.member("patterns")
	defer c.at.up()
	for i, p := range list {
		c.at.item(i)
		c.at.member("pattern")
		v := c.match.compile(p.Pattern)
		if v.rule != "" {
			c.fail(v.rule, "%s, in %s", v.message, quote(p.Pattern))
		}
		for _, warning := range v.warnings {
			c.warn("pattern_portability", warning)
		}
		c.at.up()
		c.at.up()
	}
}
