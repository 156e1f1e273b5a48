package worldtest

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"slipway/internal/base/secret"
	"slipway/internal/edge/jsonlog"
)

// tokenForm is what every token of Slipway looks like.
var tokenForm = regexp.MustCompile(`slp_[a-z]+_[0-9A-Za-z]{49}`)

// idForm is what every id looks like. Values that are one refer to a record, which a log may name.
var idForm = regexp.MustCompile(`^[a-z]{3,4}_[0-9a-z]{26}$`)

// canaries are what a test must not find where it was not sent: no token in a log, an answer or the metrics; no value
// of inputs, artifacts and outputs in a log or the metrics; and of these no secret in an error. So every test of the
// API looks for what it has sent itself.
type canaries struct {
	t  testing.TB
	mu sync.Mutex
	// log is what the test has logged, up to maxLog bytes.
	log bytes.Buffer
	// values and secrets are what was sent, up to maxSent of each.
	values, secrets map[string]bool
}

const (
	maxLog  = 4 << 20
	maxSent = 500
	// minValue is the length from which a text is told from a word that stands in a log anyway.
	minValue = 8
)

// newCanaries returns the canaries of a test, which look through its log when it has ended.
func newCanaries(t testing.TB) *canaries {
	c := &canaries{t: t, values: map[string]bool{}, secrets: map[string]bool{}}
	t.Cleanup(c.checkLog)
	return c
}

// logger returns a log as the program writes it, which the canaries look through. Its lines go to standard error, too,
// where SLIPWAY_TEST_LOG is set.
func (c *canaries) logger() *slog.Logger { return slog.New(jsonlog.New(c, slog.LevelDebug)) }

// Write implements io.Writer, for the log.
func (c *canaries) Write(line []byte) (int, error) {
	if os.Getenv("SLIPWAY_TEST_LOG") != "" {
		_, _ = os.Stderr.Write(line)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.log.Len() < maxLog {
		c.log.Write(line)
	}
	return len(line), nil
}

func (c *canaries) checkLog() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check("the log", c.log.Bytes(), c.values)
}

// checkText fails the test where what is shown to others has a token or a value.
func (c *canaries) checkText(what string, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check(what, text, c.values)
}

// check fails the test if a text has a token or one of the values.
func (c *canaries) check(what string, text []byte, values map[string]bool) {
	c.t.Helper()
	if found := tokenForm.Find(text); found != nil {
		c.t.Errorf("%s has a token: %s", what, lineOf(text, found))
	}
	for value := range values {
		if found := []byte(value); bytes.Contains(text, found) {
			c.t.Errorf("%s has the value %q: %s", what, value, lineOf(text, found))
		}
	}
}

// lineOf returns the line of a text that has a part.
func lineOf(text, part []byte) []byte {
	at := bytes.Index(text, part)
	start, end := bytes.LastIndexByte(text[:at], '\n')+1, bytes.IndexByte(text[at:], '\n')
	if end < 0 {
		return text[start:]
	}
	return text[start : at+end]
}

// checkAnswer notes what a request sends, and fails the test if the answer has a token that it did not ask to be
// made, or its error a secret.
func (c *canaries) checkAnswer(path, body string, answer []byte) {
	if c == nil { // of a World that is only a client
		return
	}
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()

	c.noteBody(body)
	if found := tokenForm.Find(answer); found != nil && !strings.Contains(body, "createToken") {
		c.t.Errorf("the answer to %s has a token: %s", path, answer)
	}
	var refused struct {
		Errors json.RawMessage
		Code   string
	}
	if json.Unmarshal(answer, &refused) != nil || refused.Errors == nil && !strings.HasPrefix(refused.Code, "slipway:") {
		return
	}

	errors := refused.Errors
	if errors == nil {
		errors = answer
	}
	c.check("the error of "+path, errors, c.secrets)
}

// carriers are the members whose texts are values, and carried what GraphQL passes one of them by a variable.
var (
	carriers = map[string]bool{"inputs": true, "values": true, "artifact": true, "outputs": true}
	carried  = regexp.MustCompile(`\b(?:inputs|values|artifact|outputs): ?\$(\w+)`)
)

// noteBody keeps the values of the body of a request.
func (c *canaries) noteBody(body string) {
	var sent map[string]any
	if json.Unmarshal([]byte(body), &sent) != nil {
		return
	}
	c.note(sent, false, false)
	query, _ := sent["query"].(string)
	variables, _ := sent["variables"].(map[string]any)
	for _, found := range carried.FindAllStringSubmatch(query, -1) {
		c.note(variables[found[1]], true, false)
	}
}

// noteValue keeps the texts of JSON that is a value.
func (c *canaries) noteValue(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err == nil {
		c.note(value, true, false)
	}
}

// note keeps the texts of what was sent that are values, and those that are secrets by their names.
func (c *canaries) note(sent any, isValue, isSecret bool) {
	switch sent := sent.(type) {
	case map[string]any:
		for name, member := range sent {
			value := isValue || carriers[name]
			c.note(member, value, value && (isSecret || secret.IsName(name)))
		}
	case []any:
		for _, item := range sent {
			c.note(item, isValue, isSecret)
		}
	case string:
		if !isValue || len(sent) < minValue || idForm.MatchString(sent) {
			return
		}
		if len(c.values) < maxSent {
			c.values[sent] = true
		}
		if isSecret && secret.IsValue(sent) && len(c.secrets) < maxSent {
			c.secrets[sent] = true
		}
	}
}
