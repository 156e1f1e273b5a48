package document_test

import (
	"errors"
	"strings"
	"testing"

	"slipway/internal/remote/cli/document"
)

func TestReadsValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// Numbers keep their digits, and are numbers where JSON's grammar has them.
		"1":                          `1`,
		"[0, -0, 1.30, 1e400, 1E+2]": `[0,-0,1.30,1e400,1E+2]`,
		"12345678901234567890123":    `12345678901234567890123`,
		"v: 1.3.0":                   `{"v":"1.3.0"}`,
		"[1e, '1', \"2\", 1 2, e1]":  `["1e","1","2","1 2","e1"]`,
		// What is true, false and null, and what is not.
		"[true, false, null, ~]":      `[true,false,null,null]`,
		"[yes, no, on, off, y, tRuE]": `["yes","no","on","off","y","tRuE"]`,
		"['true', \"null\", '~', '']": `["true","null","~",""]`,
		"":                            `null`, "# nothing\n": `null`, "---\n": `null`,
		"a:\nb:\n":             `{"a":null,"b":null}`,
		"- \n-\n- a":           `[null,null,"a"]`,
		"2026-11-26":           `"2026-11-26"`,
		"2026-11-26T10:00:00Z": `"2026-11-26T10:00:00Z"`,
		// Keys are texts as they are written, and keep their order.
		"z: 1\na: 2\n1.30: x\ntrue: y\nnull: z\n'q r': s\n~: t": `{"z":1,"a":2,"1.30":"x","true":"y","null":"z","q r":"s","~":"t"}`,
		"\"<<\": 1": `{"<<":1}`,
		"a~1/b: 1":  `{"a~1/b":1}`,
		// Nesting, flow and block.
		"a:\n- b\n- c: d\n  e: [f, {g: h}]\n":  `{"a":["b",{"c":"d","e":["f",{"g":"h"}]}]}`,
		"- - 1\n  - 2\n-\n  x: y\n":            `[[1,2],{"x":"y"}]`,
		"[a: 1, {b, c: }, [],{},]":             `[{"a":1},{"b":null,"c":null},[],{}]`,
		"{\"a\":1,'b':[2]}":                    `{"a":1,"b":[2]}`,
		"a: {\n  b: 1, # a comment\n  c: 2\n}": `{"a":{"b":1,"c":2}}`,
		// Comments and markers.
		"# first\n---\na: b # c\n#x\n...\n# last\n": `{"a":"b"}`,
		"a: b#c\nd: '#e' # f\\\ng: h":               `{"a":"b#c","d":"#e","g":"h"}`,
		"\ufeffa: 1\r\nb: 2\rc: 3":                  `{"a":1,"b":2,"c":3}`,
		// Plain scalars.
		"a: x\n  y\n\n  z\nb: http://c.d/e?f&g":       `{"a":"x y\nz","b":"http://c.d/e?f&g"}`,
		"a: ${{ environment.slug }}-orders":           `{"a":"${{ environment.slug }}-orders"}`,
		"a: x: y\\n":                                  "",
		"a:\tb\t# c":                                  `{"a":"b"}`,
		"- a-b\n- -b\n- ?c\n- :d\n- a,b\n- [e:f, f-]": `["a-b","-b","?c",":d","a,b",["e:f","f-"]]`,
		// Quoted scalars.
		"a: 'it''s'\nb: 'x\n  y\n\n  z '":            `{"a":"it's","b":"x y\nz "}`,
		`"\t\x41\u00e9\U0001F600\e\0"`:               `"\tAé😀\u001b\u0000"`,
		"\"a \n  b\\\n  c\\ \n  d\n\n  e\\\n\n  f\"": `"a bc  d\ne\nf"`,
		"\"a\tb\"": `"a\tb"`,
		// Block scalars.
		"a: |\n  x\n   y  \n\n  z\n":                    `{"a":"x\n y  \n\nz\n"}`,
		"a: |-\n  x\n  \n\nb: |+\n  y\n\n\nc: 1":        `{"a":"x","b":"y\n\n\n","c":1}`,
		"a: >\n  x\n  y\n\n  z\n    more\n  end\n":      `{"a":"x y\nz\n  more\nend\n"}`,
		"a: >-\n\n  x\n\n\n  y\n":                       `{"a":"\nx\n\ny"}`,
		"a: |2 # two\n    x\n   y\n":                    `{"a":"  x\n y\n"}`,
		"- |1-\n  x\n- b: |2-\n      y":                 `[" x",{"b":"  y"}]`,
		"a: |\nb: >-\n\nc: |+\n\n\n":                    `{"a":"","b":"","c":"\n\n"}`,
		"a: |\n  # no comment\n  'x'\n # comment\nb: 1": `{"a":"# no comment\n'x'\n","b":1}`,
		"|\n x":         `"x"`,
		"a: |\n  x\n\t": "",
		// Anchors, aliases and the tag of strings.
		"a: &x {b: [1]}\nc: *x\nd: &x 2\ne: *x":                `{"a":{"b":[1]},"c":{"b":[1]},"d":2,"e":2}`,
		"[!!str 1, !!str 0x1F, !!str true, !!str , !!str 'a']": `["1","0x1F","true","","a"]`,
		"a: !!str\nb: !!str |\n  1":                            `{"a":"","b":"1"}`,
		"a: !!str |\n  1\n":                                    `{"a":"1\n"}`,
		// JSON is YAML, with tabs and all.
		"\t{\n\t\t\"a\":\t[1.50,\"\\u00e9\\ud83d\\ude00\\/\\t\"] }\n": `{"a":[1.50,"é😀/\t"]}`,
	} {
		d, err := document.Read("x.yaml", []byte(text))
		switch {
		case err != nil && want != "":
			t.Errorf("%q: %v", text, err)
		case err == nil && string(d.JSON()) != want:
			t.Errorf("%q is %s, want %s", text, d.JSON(), want)
		}
	}
}

func TestRefusesWithPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// Numbers of other readers.
		"a: 017":           `x.yaml:1:4: is a number to some readers and a text to others; write it as JSON does, or quote it, found 017`,
		"- 0x1F":           `x.yaml:1:3: is a number to some`,
		"[1_000]":          `x.yaml:1:2: is a number to some`,
		"b: 1\na:\n  .nan": `x.yaml:3:3: is a number to some`,
		"-.INF":            `x.yaml:1:1: is a number to some`,
		"+1":               `x.yaml:1:1: is a number to some`,
		"1.":               `x.yaml:1:1: is a number to some`,
		".5":               `x.yaml:1:1: is a number to some`,
		"0o7":              `x.yaml:1:1: is a number to some`,
		"0b1":              `x.yaml:1:1: is a number to some`,
		"00":               `x.yaml:1:1: is a number to some`,
		"-01.5":            `x.yaml:1:1: is a number to some`,
		"22:30":            `x.yaml:1:1: is a number to some`,
		"True":             `x.yaml:1:1: must be written in small letters, or in quotes if it is a text, found True`,
		"a: NULL":          `x.yaml:1:4: must be written in small letters`,
		// Keys.
		"a: 1\nb: 2\n\"a\": 3":                  `x.yaml:3:1: has the key "a" twice, first at line 1, column 1`,
		"{\"a\": 1,\n \"a\": 2}":                `x.yaml:2:2: has the key "a" twice, first at line 1, column 2`,
		"x:\n  - {b: 1, b: 2}":                  `x.yaml:2:12: has the key "b" twice, first at line 2, column 6`,
		"a: &x {}\nb:\n  <<: *x":                `x.yaml:3:3: must not be the merge key <<`,
		"{<<: {a: 1}}":                          `x.yaml:1:2: must not be the merge key <<`,
		"? a\n: b":                              `x.yaml:1:1: must not be an explicit key`,
		"? [a]\n: b":                            `x.yaml:1:1: must not be an explicit key`,
		"[a]: b":                                `x.yaml:1:1: must be a plain or a quoted text, for it is a key`,
		"a: &k x\n*k : y":                       `x.yaml:2:1: must be a plain or a quoted text, for it is a key`,
		"{*k : y}":                              `x.yaml:1:2: is the alias of an anchor &k, which is not complete before it`,
		": a":                                   `x.yaml:1:1: cannot be read: did not find expected key`,
		"{a: b: c}":                             `x.yaml:1:1: cannot be read: did not find expected ',' or '}'`,
		"a: b: c":                               `x.yaml:1:1: cannot be read: mapping values are not allowed in this context`,
		"a:1\nb: 2":                             `x.yaml:2:1: cannot be read: mapping values are not allowed in this context`,
		"{a:1}":                                 `x.yaml:1:2: must have a space behind the colon, or be quoted`,
		"{'a\n b': 1}":                          `x.yaml:2:1: cannot be read: did not find expected ',' or '}'`,
		"{a\n: b}":                              `x.yaml:2:1: cannot be read: did not find expected ',' or '}'`,
		"k" + strings.Repeat("e", 1024) + ": 1": `x.yaml:1:1: cannot be read: mapping values are not allowed in this context`,
		"a: 1\n017: x":                          `x.yaml:2:1: is a number to some readers and a text to others; write it as JSON does, or quote it, found 017`,
		"{0x1F: x}":                             `x.yaml:1:2: is a number to some`,
		"22:30: x":                              `x.yaml:1:1: is a number to some`,
		".inf: x":                               `x.yaml:1:1: is a number to some`,
		"True: x":                               `x.yaml:1:1: must be written in small letters, or in quotes if it is a text, found True`,
		"a: {NULL: x}":                          `x.yaml:1:5: must be written in small letters`,
		"a: 1\n? b\n: 2":                        `x.yaml:2:1: must not be an explicit key`,
		"a:\n  ?\n    b\n  : c":                 `x.yaml:2:3: must not be an explicit key`,
		"[? a : b]":                             `x.yaml:1:2: must not be an explicit key`,
		"{? a, b: c}":                           `x.yaml:1:2: must not be an explicit key`,
		"&a b: c":                               `x.yaml:1:1: must be a plain or a quoted text, for it is a key`,
		"a: {!!str b: c}":                       `x.yaml:1:5: must be a plain or a quoted text, for it is a key`,
		"{?\n : b}":                             `x.yaml:2:2: must be a plain or a quoted text, for it is a key`,
		// Structure.
		"a: 1\n---\nb: 2":            `x.yaml:2:1: begins a second document; there may be one in a file`,
		"a: 1\n---\n":                `x.yaml:2:1: begins a second document`,
		"a: 1\n...\nb: 2":            `x.yaml:3:1: follows the end of the document; a file has one document`,
		"# c\n\n%TAG ! x\n---\n!a b": `x.yaml:3:1: must not be a directive`,
		"%YAML 1.2\n---\na: 1":       `x.yaml:1:1: must not be a directive`,
		"{\"a\": \"1\" \"b\": 2}":    `x.yaml:1:1: cannot be read: did not find expected ',' or '}'`,
		"a: &b,c 1":                  `x.yaml:1:1: cannot be read: did not find expected key`,
		"a:\n  - b\n - c":            `x.yaml:3:1: cannot be read: did not find expected key`,
		"a:\n  b: 1\n c: 2":          `x.yaml:3:1: cannot be read: did not find expected key`,
		"-\na: b":                    `x.yaml:2:1: cannot be read: did not find expected node content`,
		"-\nb":                       `x.yaml:2:1: cannot be read: could not find expected ':'`,
		"- &x\nb: 1":                 `x.yaml:2:1: cannot be read: did not find expected '-' indicator`,
		"- a\nb: c":                  `x.yaml:2:1: cannot be read: did not find expected '-' indicator`,
		"[1, 2":                      `x.yaml:1:1: cannot be read: did not find expected ',' or ']'`,
		"[1,,2]":                     `x.yaml:1:1: cannot be read: did not find expected node content`,
		"a: ]":                       `x.yaml:1:1: cannot be read: did not find expected node content`,
		"}":                          `x.yaml:1:1: cannot be read: did not find expected node content`,
		"a: [1],":                    `x.yaml:1:1: cannot be read: did not find expected key`,
		"!!str !!str 1":              `x.yaml:1:1: follows the end of the document; a file has one document`,
		"{a: 1 b: 2}":                `x.yaml:1:1: cannot be read: did not find expected ',' or '}'`,
		"a: \"b\" c":                 `x.yaml:1:1: cannot be read: did not find expected key`,
		"k: \"b\n \"c: d":            `x.yaml:2:1: cannot be read: mapping values are not allowed in this context`,
		"[|\n a]":                    `x.yaml:1:1: cannot be read: found character that cannot start any token`,
		"a: |x\n b":                  `x.yaml:1:1: cannot be read: did not find expected comment or line break`,
		"a: |'\n b":                  `x.yaml:1:1: cannot be read: did not find expected comment or line break`,
		"a: |\n    \n  b":            `x.yaml:3:1: cannot be read: did not find expected key`,
		"a: @b":                      `x.yaml:1:1: cannot be read: found character that cannot start any token`,
		// Quotes and escapes.
		"a: \"b":          `x.yaml:1:1: cannot be read: found unexpected end of stream`,
		`a: "\q"`:         `x.yaml:1:`,
		`a: "x\xzz"`:      `x.yaml:1:1: cannot be read: did not find expected hexdecimal number`,
		`a: "\uzzzz"`:     `x.yaml:1:1: cannot be read: did not find expected hexdecimal number`,
		`a: "\udc00"`:     `x.yaml:1:1: cannot be read: found invalid Unicode character escape code`,
		`["\ud800"]`:      `x.yaml:1:3: `,
		`a: "\Uffffffff"`: `x.yaml:1:1: cannot be read: found invalid Unicode character escape code`,
		// Tags, anchors, aliases.
		"a: !!int 1":           `x.yaml:1:4: must have the tag !!str or none, found "!!int"`,
		"! 1":                  `x.yaml:1:1: must have the tag !!str or none, found "!"`,
		"a: &b # c\n !x d":     `x.yaml:2:2: must have the tag !!str or none, found "!x"`,
		"a: b\nc: [*a, d]":     `x.yaml:2:5: is the alias of an anchor &a`,
		"!x {}":                `x.yaml:1:1: must have the tag !!str or none, found "!x"`,
		"!!str {a: 1}":         `x.yaml:1:1: must be followed by a text, for it is the tag of strings`,
		"a: *b":                `x.yaml:1:4: is the alias of an anchor &b, which is not complete before it`,
		"a: &b [*b]":           `x.yaml:1:8: is the alias of an anchor &b`,
		"a: &b\tc d\ne: *b\tf": `x.yaml:2:1: cannot be read: did not find expected key`,
		"a: &b 1\nc: &d *b":    `x.yaml:2:1: cannot be read: did not find expected key`,
		// Characters.
		"a: 1\n\tb: 2":    `x.yaml:2:1: cannot be read: found a tab character`,
		"\ta: 1":          `x.yaml:1:`,
		"a: \xff":         `x.yaml:1:4: must be UTF-8, found the byte 0xFF`,
		"é: \x00":         `x.yaml:1:4: must not contain the character U+0000; in double quotes it is written as \u0000`,
		"# c\na: b\u2028": `x.yaml:2:5: must not contain the character U+2028; in double quotes it is written as \u2028`,
		"- \u0085":        `x.yaml:1:3: must not contain the character U+0085`,
		"a: \ufeff":       `x.yaml:1:4: must not contain the character U+FEFF`,
		"\xff\xfea\x00":   `x.yaml:1:1: must be UTF-8, found the byte 0xFF`,
	} {
		d, err := document.Read("x.yaml", []byte(text))
		if err == nil {
			t.Errorf("%q is read as %s, want %s", text, d.JSON(), want)
			continue
		}
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if flaw := (*document.Error)(nil); !errors.As(err, &flaw) {
			t.Errorf("%q: the error is a %T", text, err)
		}
	}
}

func TestJSONFilesAreHeldToJSON(t *testing.T) {
	t.Parallel()
	_, err := document.Read("x.json", []byte("{\n \"a\": 1,\n}"))
	if err == nil || !strings.HasPrefix(err.Error(), "x.json:3:1: ") {
		t.Errorf("a comma too many: %v", err)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	const text = "a: 1\n# c\nlist:\n  - b: x\n    é: {c: [1, 'zwei', \"3\"]}\n  -\n    - |\n      t\nempty:\nalias: &n {m: 1}\nuse: *n\nx/y~z: q\n"
	d, err := document.Read("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string][2]document.Position{
		"":                {{1, 1}, {1, 1}},
		"/a":              {{1, 4}, {1, 1}},
		"/list":           {{4, 3}, {3, 1}},
		"/list/0":         {{4, 5}, {4, 5}},
		"/list/0/b":       {{4, 8}, {4, 5}},
		"/list/0/é":       {{5, 8}, {5, 5}},
		"/list/0/é/c":     {{5, 12}, {5, 9}},
		"/list/0/é/c/1":   {{5, 16}, {5, 16}},
		"/list/0/é/c/2":   {{5, 24}, {5, 24}},
		"/list/0/é/c/3":   {{5, 12}, {5, 12}}, // not there: the list
		"/list/0/nothing": {{4, 5}, {4, 5}},
		"/list/1/0":       {{7, 7}, {7, 7}},
		"/empty":          {{9, 1}, {9, 1}},
		"/alias/m":        {{10, 15}, {10, 12}},
		"/use":            {{11, 6}, {11, 1}},
		"/use/m":          {{11, 6}, {11, 6}}, // in the alias
		"/x~1y~0z":        {{12, 8}, {12, 1}},
		"/nowhere/at/all": {{1, 1}, {1, 1}},
	} {
		if value, key := d.Position(pointer), d.KeyPosition(pointer); value != want[0] || key != want[1] {
			t.Errorf("%q stands at %v, its key at %v, want %v", pointer, value, key, want)
		}
	}
}

func TestPositionsOfJSON(t *testing.T) {
	t.Parallel()
	d, err := document.Read("x.json", []byte("{\n\t\"ä\" : [ true,\n  {\"b\":null}] }"))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]document.Position{"": {1, 1}, "/ä": {2, 8}, "/ä/0": {2, 10}, "/ä/1": {3, 3}, "/ä/1/b": {3, 8}} {
		if got := d.Position(pointer); got != want {
			t.Errorf("%q stands at %v, want %v", pointer, got, want)
		}
	}
	if got := d.KeyPosition("/ä/1/b"); got != (document.Position{Line: 3, Column: 4}) {
		t.Errorf("the key of /ä/1/b stands at %v", got)
	}
}
