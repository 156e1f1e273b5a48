package document

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"slipway/internal/base/strictjson"
)

// yaml reads a text that is YAML. A panic of the parser is an error of the text.
func (r *reader) yaml() (err error) {
	defer func() {
		if flaw := recover(); flaw != nil {
			err = &Error{File: r.file, Message: fmt.Sprintf("cannot be read: the parser of YAML gave up: %v", flaw)}
		}
	}()

	root, err := r.parse()
	if err != nil {
		return err
	}

	c := &converter{reader: r, anchors: map[*yaml.Node]subtree{}}
	t, err := c.value(root)
	r.doc.Root = t.node
	return err
}

// directive finds the first line of a text that has more than a comment, if it is a directive.
var directive = regexp.MustCompile(`^(?:[ \t]*(?:#.*)?\n)*%`)

// separators are what YAML 1.1 takes for line breaks and YAML 1.2 for characters of a line.
const separators = "\u0085\u2028\u2029"

// parse returns the root of the one document of the text; that of an empty text is empty.
func (r *reader) parse() (*yaml.Node, error) {
	if at := strings.IndexAny(r.text, separators); at >= 0 {
		return nil, r.badCharacter(at)
	}
	if found := directive.FindStringIndex(r.text); found != nil {
		return nil, r.fail(found[1]-1, "must not be a directive")
	}

	var first, second yaml.Node
	d := yaml.NewDecoder(strings.NewReader(r.text))
	if err := d.Decode(&first); errors.Is(err, io.EOF) {
		return &yaml.Node{Kind: yaml.ScalarNode}, nil
	} else if err != nil {
		return nil, r.syntaxError(err)
	}

	switch err := d.Decode(&second); {
	case err == nil:
		return nil, r.fail(r.offset(second.Line, second.Column), "begins a second document; there may be one in a file")
	case !errors.Is(err, io.EOF):
		return nil, r.syntaxError(err)
	}
	return first.Content[0], nil
}

var (
	// errorText is an error of yaml.v3, which leaves out the line if it is the first one.
	errorText = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	// parserMessage is an error of yaml.v3's parser. Only its scanner counts lines from 1 in errors.
	parserMessage = regexp.MustCompile(`^(did not find expected (<|node content|key$|'[-,])|found undefined tag handle)`)
	// unknownAnchor is the error that has no line at all.
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntaxError returns an error of yaml.v3, which knows the line alone.
func (r *reader) syntaxError(err error) error {
	found := errorText.FindStringSubmatch(err.Error())
	message := found[2]
	if name := unknownAnchor.FindStringSubmatch(message); name != nil {
		return r.unknownAlias(r.firstAlias(name[1]), name[1])
	}

	line := 1
	if n, err := strconv.Atoi(found[1]); err == nil {
		line = n
		if parserMessage.MatchString(message) {
			line++
		}
	}
	start := r.lines[min(line, len(r.lines))-1]
	if strings.HasSuffix(message, "<document start>") {
		return r.fail(start, "follows the end of the document; a file has one document")
	}
	return r.fail(start, "cannot be read: %s", message)
}

// firstAlias returns the offset of the first alias of a name. It may be in a comment or a text, since only the parser
// could tell, and it does not say.
func (r *reader) firstAlias(name string) int {
	alias := regexp.MustCompile(`(?m)(?:^|[\s\[{,])(\*` + regexp.QuoteMeta(name) + `)(?:[\s\]},:]|$)`)
	found := alias.FindStringSubmatchIndex(r.text)
	if found == nil {
		return 0
	}
	return found[2]
}

func (r *reader) unknownAlias(offset int, name string) error {
	return r.fail(offset, "is the alias of an anchor &%s, which is not complete before it", strictjson.Short(name))
}
