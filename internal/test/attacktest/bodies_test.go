package attacktest_test

import (
	"context"
	"fmt"
	"strings"
)

// body is an attack by the bytes of a POST.
func body(name, want, text string) attack {
	return attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) {
		return c.send(ctx, request{body: strings.NewReader(text)})
	}}
}

// bodies are attacks by JSON.
func bodies() []attack {
	const (
		malformed = "400 Request:MALFORMED"
		ask       = `{"query":"query($v: JSON!) { validateInputs(input: {inputs: [], values: $v}) { valid } }","variables":{"v":%s}}`
		lenient   = `{"query":"{ __typename }","variables":{"v":%s}}`
	)
	with := func(name, want, format, value string) attack { return body(name, want, fmt.Sprintf(format, value)) }
	list := strings.Repeat
	return []attack{
		with("100,000 nested arrays in a variable", malformed, lenient, nested(100_000, "[", "", "]")),
		with("200 KiB of open brackets", malformed, lenient, list("[", 200<<10)),
		with("40,000 nested objects", malformed, lenient, nested(30_000, `{"a":`, "1", "}")),
		with("90 nested arrays", "200", lenient, nested(90, "[", "", "]")),
		with("an object of 50,000 keys", "413 Request:TOO_LARGE body", lenient, "{"+each(50_000, `"%d":1,`)+`"a":1}`),
		with("an object of 22,000 keys", "200", lenient, "{"+each(22_000, `"%d":1,`)+`"a":1}`),
		with("an object of 22,000 keys that is judged", "200", ask, "{"+each(22_000, `"%d":1,`)+`"a":1}`),
		with("keys that are equal but for the last", malformed, lenient, "{"+each(15_000, `"k%d":1,`)+`"k7":1}`),
		with("a key 40,000 times", malformed, lenient, "{"+list(`"a":1,`, 40_000)+`"a":1}`),
		with("a list of 120,000 numbers", "200", lenient, "["+list("1,", 120_000)+"1]"),
		with("a list of 80,000 objects in the place of ids", "400 Document:VARIABLES_INVALID", `{"query":"query($v: [ID!]!) { nodes(ids: $v) { id } }","variables":{"v":%s}}`, "["+list("{},", 80_000)+"1]"),
		with("200 KiB of escapes", "200", lenient, `"`+list(`\u00e9`, 33_000)+`"`),
		with("half a surrogate pair", malformed, lenient, `"`+list("x", 200_000)+`\ud800"`),
		with("bytes that are no UTF-8", malformed, lenient, "\""+list("\xff", 200_000)+"\""),
		with("a number of 200,000 digits", "200", lenient, list("9", 200_000)),
		with("a number of 200,000 digits as Int", "400 Document:VARIABLES_INVALID", `{"query":"query($v: Int) { moduleDefinitions(first: $v) { totalCount } }","variables":{"v":%s}}`, list("9", 200_000)),
		with("1e999999999 as Int", "400 Document:VARIABLES_INVALID", `{"query":"query($v: Int) { moduleDefinitions(first: $v) { totalCount } }","variables":{"v":%s}}`, "1e999999999"),
		with("a string of 250 KB as an id", "200 Node:NOT_FOUND", `{"query":"query($v: ID!) { node(id: $v) { id } }","variables":{"v":%s}}`, `"`+list("x", 250_000)+`"`),
		body("256 KiB and a byte", "413 Request:TOO_LARGE body", list(" ", 256<<10+1)),
		body("256 KiB of white space", malformed, list(" ", 256<<10)),
		body("a batch of 5,000 operations", malformed, "["+list(`{"query":"{ __typename }"},`, 5000)+`{"query":"{ __typename }"}]`),
		body("20,000 unknown members", malformed, "{"+each(20_000, `"m%d":1,`)+`"query":"{ __typename }"}`),
		body("a JSON text after the first", malformed, `{"query":"{ __typename }"}{"query":"{ __typename }"}`),
		body("nothing", malformed, ""),
	}
}
