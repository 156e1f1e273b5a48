package inputprop

import "fmt"

// maxPatternBytes is how long all patterns of a schema may be together, because reading them takes its time.
const maxPatternBytes = 32 << 10

// patterns checks the patterns themselves.
func (c *checker) patterns(list []ValidationPattern) {
	c.at.member("patterns")
	defer c.at.up()
	for i, p := range list {
		c.at.item(i)
		c.at.member("pattern")
		var v verdict
		if c.patternBytes += len(p.Pattern); c.patternBytes > maxPatternBytes {
			v = verdict{rule: "max_patterns", message: fmt.Sprintf("must be among patterns of at most %d bytes together, found more", maxPatternBytes)}
		} else {
			v = c.match.compile(p.Pattern)
		}
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
