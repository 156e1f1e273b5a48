package inputprop

import (
	"strconv"
	"strings"
)

// trail is the way from the root to the value at hand. It becomes a JSON Pointer only when
// something is wrong there, so that a good input pays nothing for it.
type trail []step

// step goes to the member of that key, or to the item of that index when it is not negative.
type step struct {
	key   string
	index int
}

func (t *trail) member(key string) { *t = append(*t, step{key: key, index: -1}) }
func (t *trail) item(index int)    { *t = append(*t, step{index: index}) }
func (t *trail) up()               { *t = (*t)[:len(*t)-1] }

// tokenBytes bounds a key within a pointer, for an endless key must not be repeated in every violation
// below it.
const tokenBytes = 256

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointer gives the place as a JSON Pointer (RFC 6901) that starts with root.
func (t trail) pointer(root string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, s := range t {
		b.WriteByte('/')
		switch {
		case s.index >= 0:
			b.WriteString(strconv.Itoa(s.index))
		case len(s.key) > tokenBytes:
			b.WriteString(escaper.Replace(strings.ToValidUTF8(s.key[:tokenBytes], "")) + "…")
		default:
			b.WriteString(escaper.Replace(s.key))
		}
	}
	return b.String()
}
