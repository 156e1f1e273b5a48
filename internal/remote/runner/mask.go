package runner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"slipway/internal/base/secret"
	"slipway/internal/pure/release"
	"slipway/internal/pure/runlog"
)

// minSecret is how many characters a text has at least that is masked: shorter ones are found in everything.
const minSecret = 6

// secretsOf returns what looks like a secret in what a program reads: the inputs and the artifact of its release, and
// those of the live one.
func secretsOf(in input) ([]string, error) {
	shipped := []*shippedRelease{in.Release}
	if in.Live != nil {
		shipped = append(shipped, in.Live.Release)
	}

	var found []string
	for _, r := range shipped {
		if r == nil {
			continue
		}
		for _, content := range []json.RawMessage{r.Inputs, r.Artifact} {
			texts, err := release.Secrets(content)
			if err != nil {
				return nil, err
			}
			found = append(found, texts...)
		}
	}

	slices.Sort(found)
	return slices.Compact(found), nil
}

// mask replaces secrets in what a program has printed, before it leaves the machine.
type mask []maskedText

// maskedText is a text to be replaced. fails has, for each of its prefixes, the length of the longest shorter prefix
// with which that ends, by which the text is found in one pass (Knuth, Morris and Pratt).
type maskedText struct {
	text  string
	fails []int
}

// newMask returns a mask of each line of the secrets that is long enough, as it is and as it stands in JSON.
func newMask(secrets []string) mask {
	var texts []string
	for _, s := range secrets {
		for line := range strings.SplitSeq(runlog.Clean(s), "\n") {
			line = strings.TrimRight(line, "\r")
			texts = append(texts, line, inJSON(line, true), inJSON(line, false))
		}
	}
	slices.Sort(texts)
	var m mask
	for _, text := range slices.Compact(texts) {
		if utf8.RuneCountInString(text) >= minSecret {
			m = append(m, newMaskedText(text))
		}
	}
	return m
}

// inJSON returns a text as it stands between the quotes of JSON.
func inJSON(text string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	if err := e.Encode(text); err != nil {
		panic(err) // every text can be encoded
	}
	return strings.TrimSuffix(b.String(), "\"\n")[1:]
}

func newMaskedText(text string) maskedText {
	t := maskedText{text, make([]int, len(text))}
	for i, length := 1, 0; i < len(text); i++ {
		length = t.next(length, text[i])
		t.fails[i] = length
	}
	return t
}

// next returns how long a prefix of the text is found after one more byte, if one of the length was found before.
func (t maskedText) next(length int, b byte) int {
	for length > 0 && (length == len(t.text) || t.text[length] != b) {
		length = t.fails[length-1]
	}
	if t.text[length] == b {
		length++
	}
	return length
}

// span is a part of a line.
type span struct{ from, to int }

// find adds the parts of a line where the text is. Of a line that was cut, that is also an end with which the text
// begins.
func (t maskedText) find(line string, isCut bool, found []span) []span {
	from := 0
	if !strings.Contains(line, t.text) {
		if !isCut {
			return found
		}
		from = max(0, len(line)-len(t.text)+1)
	}

	length := 0
	for i := from; i < len(line); i++ {
		if length = t.next(length, line[i]); length == len(t.text) {
			found = append(found, span{i + 1 - length, i + 1})
		}
	}

	if isCut && utf8.RuneCountInString(t.text[:length]) >= minSecret {
		found = append(found, span{len(line) - length, len(line)})
	}
	return found
}

// line returns a line with secret.Redacted in the place of secrets. isCut is whether the line went on.
func (m mask) line(line string, isCut bool) string {
	var found []span
	for _, t := range m {
		found = t.find(line, isCut, found)
	}
	if len(found) == 0 {
		return line
	}

	slices.SortFunc(found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })

	var b strings.Builder
	done := 0
	for i := 0; i < len(found); {
		// Secrets that overlap are one.
		from, to := found[i].from, found[i].to
		for i++; i < len(found) && found[i].from < to; i++ {
			to = max(to, found[i].to)
		}
		b.WriteString(line[done:from])
		b.WriteString(secret.Redacted)
		done = to
	}
	b.WriteString(line[done:])
	return b.String()
}

// cutLine is the length, in bytes, from which a line of the end of standard error may have been cut by the keeper.
const cutLine = 4000

// lines returns lines with their secrets masked.
func (m mask) lines(text string) string {
	if len(m) == 0 {
		return text
	}
	list := strings.Split(text, "\n")
	for i, line := range list {
		list[i] = m.line(line, len(line) >= cutLine)
	}
	return strings.Join(list, "\n")
}

// object returns an object with the secrets in its texts masked, and in the digits of its numbers.
func (m mask) object(o object) object {
	if len(m) == 0 || o == nil {
		return o
	}
	masked := object{}
	for name, value := range o {
		var v any
		d := json.NewDecoder(bytes.NewReader(value))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			panic(err) // it was decoded before
		}
		masked[name] = jsonOf(m.value(v))
	}
	return masked
}

func (m mask) value(v any) any {
	switch v := v.(type) {
	case string: // it may have several lines
		return m.lines(v)

	case json.Number:
		if masked := m.line(v.String(), false); masked != v.String() {
			return masked
		}

	case []any:
		for i := range v {
			v[i] = m.value(v[i])
		}

	case map[string]any:
		masked := make(map[string]any, len(v))
		for key, value := range v {
			masked[m.line(key, false)] = m.value(value)
		}
		return masked
	}
	return v
}
