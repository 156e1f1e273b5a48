package inputprop

import (
	"fmt"

	"slipway/internal/strictjson"
)

// maxPatternBytes is how long all patterns of a schema may be together, because reading them takes its time.
const maxPatternBytes = 32 << 10

// patterns checks the patterns themselves.
func (c *checker) patterns(list []ValidationPattern) {
	c.Path.PushKey("patterns")
	defer c.Path.Pop()
	for i, p := range list {
		c.Path.PushIndex(i)
		c.Path.PushKey("pattern")
		var v PatternFlaw
		if c.patternBytes += len(p.Pattern); c.patternBytes > maxPatternBytes {
			v = PatternFlaw{Rule: "max_patterns", Message: fmt.Sprintf("must be among patterns of at most %d bytes together, found more", maxPatternBytes)}
		} else {
			v = c.match.Compile(p.Pattern)
		}
		if v.Rule != "" {
			c.Fail(v.Rule, "%s, in %s", v.Message, strictjson.Quote(p.Pattern))
		}
		for _, warning := range v.Warnings {
			c.warn("pattern_portability", warning)
		}
		c.Path.Pop()
		c.Path.Pop()
	}
}
