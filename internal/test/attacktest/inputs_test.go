package attacktest_test

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// slowPattern is why patterns may take longer.
const slowPattern = "the patterns of a request have some 200 ms"

// inputs are attacks by the inputs that a caller declares, and by values for them.
func inputs() []attack {
	const (
		broken  = "200 DefaultValueDefinition:RULE_BROKEN"
		refused = "200 Request:INVALID"
		chars   = `{"id":"%s","label":"L","type":"string"`
	)
	text := func(i string) string { return fmt.Sprintf(chars, i) + "}" }
	number := strings.ReplaceAll(chars, "%s", "i%[1]d")
	hang := func(n int) string {
		return list(n, number+`,"patterns":[{"pattern":"^(a+)+%[1]d$","message":"m"}]}`)
	}
	values := func(n int) string {
		return "{" + strings.TrimSuffix(each(n, `"i%d":"`+strings.Repeat("a", 60)+`",`), ",") + "}"
	}
	return append(unkindPatterns(), []attack{
		define("inputs 10,000 levels deep", "400 Request:MALFORMED", nested(5000, `{"item_inputs":[`, text("x"), "]}")),
		define("inputs 80 levels deep", "400 Document:VARIABLES_INVALID", nested(40, `{"id":"a","label":"L","type":"object_array","item_inputs":[`, text("x"), "]}")),
		define("inputs 60 levels deep", "200", nested(28, `{"id":"a","label":"L","type":"object_array","item_inputs":[`, text("x"), "]}")),
		define("4,000 inputs", refused, array(list(4000, number+"}"))),
		define("499 inputs of one id", broken, array(list(499, fmt.Sprintf(chars, "same")+`,"placeholder":"%d"}`))),
		define("499 inputs, each shown by the one before", "200", array(shown(499, -1))),
		define("a circle of inputs that show one another", broken, array(shown(499, 498))),
		define("an input that 5,000 others show", broken, array("["+text("a")+","+fmt.Sprintf(chars, "b")+`,"show_when":{`+strings.TrimSuffix(each(5000, `"n%d":1,`), ",")+"}}]")),
		define("conditions nested 58 deep", "200", fmt.Sprintf(chars, "a")+`,"show_when":{"b":`+nested(58, `{"not":`, "1", "}")+"}}"),
		define("5,000 options", refused, fmt.Sprintf(chars, "a")+`,"values":`+list(5000, `"v%d"`)+"}"),
		define("500 equal options", broken, fmt.Sprintf(chars, "a")+`,"values":`+"["+strings.Repeat(`"v",`, 499)+`"v"]}`),
		define("a default of 200 KB", refused, fmt.Sprintf(chars, "a")+`,"default":"`+strings.Repeat("x", 200_000)+`"}`),
		define("a template of 3,000 placeholders", broken, fmt.Sprintf(chars, "a")+`,"default":"`+strings.Repeat("${{", 3000)+`"}`),
		define("a template of 3,000 fields", "200", `{"id":"a","label":"L","type":"object_array","item_description":"`+strings.Repeat("{x}", 3000)+`","item_inputs":[`+text("x")+"]}"),
		define("34 patterns of 950 characters", "200", fmt.Sprintf(chars, "a")+`,"patterns":`+list(34, `{"pattern":"`+strings.Repeat("(a|b)", 190)+`%d","message":"m"}`)+"}"),
		define("190 patterns of 950 characters", broken, fmt.Sprintf(chars, "a")+`,"patterns":`+list(190, `{"pattern":"`+strings.Repeat("(a|b)", 190)+`%d","message":"m"}`)+"}"),
		define("200 patterns with a class of 900 characters", broken, fmt.Sprintf(chars, "a")+`,"patterns":`+list(200, `{"pattern":"%d[`+strings.Repeat("ac", 450)+`]","message":"m"}`)+"}"),
		define("a pattern of nested groups", broken, fmt.Sprintf(chars, "a")+`,"patterns":[{"pattern":"`+nested(490, "(", "a", ")")+strings.Repeat("{9}", 5)+`","message":"m"}]}`),
		define("a pattern that counts to 9^150", "200", fmt.Sprintf(chars, "a")+`,"patterns":[{"pattern":"`+nested(150, "(", "a", "){9}")+`","message":"m"}]}`),
		judge("a pattern that hangs", "200", 0, hang(1), values(1)),
		judge("60 patterns that hang", "200", 0, hang(60), values(60)),
		judge("a pattern that hangs on each of 1,000 texts", "200", 0,
			`[{"id":"a","label":"L","type":"string_array","patterns":[{"pattern":"^(a+)+$","message":"m"}]}]`,
			`{"a":`+list(1000, `"`+strings.Repeat("a", 60)+`b%d"`)+"}"),
		judge("a pattern on 20,000 texts", within, 0,
			`[{"id":"a","label":"L","type":"string_array","patterns":[{"pattern":"^a$","message":"m"}]}]`, `{"a":[`+strings.Repeat(`"a",`, 20_000)+`"a"]}`),
		judge("400 patterns on 50 texts", within, 0,
			`[{"id":"a","label":"L","type":"string_array","patterns":`+list(400, `{"pattern":"^a%d?$","message":"m"}`)+`}]`, `{"a":[`+strings.Repeat(`"a",`, 50)+`"a"]}`),
		judge("5,000 items of objects", within, 0, "["+array(list(20, number+`,"required":true}`))+"]", `{"a":[`+strings.Repeat("{},", 5000)+"{}]}"),
	}...)
}

// unkindPatterns are attacks by patterns that QuickJS's own matcher would run far longer than it is given.
func unkindPatterns() (all []attack) {
	long := strings.Repeat("a", 10_000)
	const text = `[{"id":"a","label":"L","type":"%s","patterns":[{"pattern":"%s","message":"m"}]}]`
	for _, p := range []struct{ name, pattern string }{
		{"a bounded loop in a look-ahead", `(?=(a?){1,65000})x`},
		{"a bounded loop of groups", `(?=(?:(a)?){1,65000})x`},
		{"a lazy bounded loop", `(?=(a*?){1,65000})x`},
		{"fifty look-aheads", strings.Repeat(`(?=a*)`, 50) + "x"},
		{"fifty negative look-aheads", strings.Repeat(`(?!a*x)`, 50) + "x"},
		{"fifty look-behinds", strings.Repeat(`(?<=a*)`, 50) + "x"},
		{"a loop of look-aheads", `(?:(?=a{0,9000})a)*x`},
		{"a loop of 9,000 groups", `(?:(a)){9000}x`},
		{"a back reference to all of a text", `(?=(a*))\\1*?x`},
		{"200 nested look-aheads", strings.Repeat("(?=", 200) + "(?:a?){1,9000}" + strings.Repeat(")", 200) + "x"},
	} {
		all = append(all, judge(p.name, "200", 0, fmt.Sprintf(text, "string", p.pattern), `{"a":"`+long+`"}`))
	}
	return append(all, judge("a pattern that takes long on each of 1,000 texts", "200", 250,
		fmt.Sprintf(text, "string_array", `(?=(a?){1,65000})x`), `{"a":`+list(1_000, `"`+strings.Repeat("a", 200)+`%d"`)+"}"))
}

// shown is n inputs that are each shown by the one before; the first is by the one that first names, by
// none if that is -1.
func shown(n, first int) string {
	list := make([]string, n)
	for i := range list {
		by := i - 1
		if i == 0 {
			by = first
		}
		when := ""
		if by >= 0 {
			when = fmt.Sprintf(`,"show_when":{"i%d":"x"}`, by)
		}
		list[i] = fmt.Sprintf(`{"id":"i%d","label":"L","type":"string"%s}`, i, when)
	}
	return "[" + strings.Join(list, ",") + "]"
}

// define is an attack by the schema of a default value definition.
func define(name, want, schema string) attack {
	return attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) {
		const query = `mutation($g: GivenId!, $s: JSON!) { createDefaultValueDefinition(input: {givenId: $g, name: \"n\", schema: {json: $s}}) { defaultValueDefinition { id } } }`
		given := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
				return r
			}
			return '-'
		}, strings.ToLower(name))
		return c.send(ctx, request{body: strings.NewReader(fmt.Sprintf(`{"query":"%s","variables":{"g":"r%d-%s","s":%s}}`, query, c.round, given, schema))})
	}}
}

// judge is an attack by values for inputs; cpu is in milliseconds, 0 if it is no more than others'.
func judge(name, want string, cpu int, inputs, values string) attack {
	a := attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) {
		const query = `query($i: [InputPropertyInput!], $v: JSON!) { validateInputs(input: {inputs: $i, values: $v}) { valid violations { rule } } }`
		return c.post(ctx, query, object{"i": wrapped(inputs), "v": raw(values)})
	}}
	if cpu > 0 {
		a.cpu, a.why = time.Duration(cpu)*time.Millisecond, slowPattern
	}
	return a
}
