package httpx

import (
	"iter"
	"strings"
)

// elements returns the elements of a header that is a list: what stands between its commas, but for those within quoted
// strings (RFC 9110, 5.6.1 and 5.6.4).
func elements(text string) iter.Seq[string] {
	if !strings.Contains(text, `"`) {
		return strings.SplitSeq(text, ",")
	}

	return func(yield func(string) bool) {
		begin, quoted := 0, false
		for i := 0; i < len(text); i++ {
			switch {
			case text[i] == '"':
				quoted = !quoted
			case text[i] == '\\' && quoted:
				i++ // what it stands before is no end
			case text[i] == ',' && !quoted:
				if !yield(text[begin:i]) {
					return
				}
				begin = i + 1
			}
		}

		yield(text[begin:])
	}
}
