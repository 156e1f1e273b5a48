package attacktest_test

import (
	"context"
	"fmt"
	"strings"
)

// document is an attack by the text of a document alone. It is new in each round, so that no round finds
// it kept.
func document(name, want, query string) attack {
	return attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) {
		if len(query) < 16<<10-4 {
			return c.post(ctx, fmt.Sprintf("%s\n#%d", query, c.round), nil)
		}
		return c.post(ctx, query, nil)
	}}
}

// What documents are refused with.
const (
	unparsed  = "400 Document:PARSE_FAILED"
	invalid   = "400 Document:VALIDATION_FAILED"
	tooLong   = "413 Document:TOO_LARGE query"
	overLimit = "400 Document:LIMIT_EXCEEDED "
)

// each returns the format n times, with the number.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// chain spreads fragment 0, and each fragment what the format makes of the next one's number, %[2]d.
func chain(n int, format string) string {
	var b strings.Builder
	b.WriteString("{ ...f0 }")
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on Query { "+format+" }", i, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on Query { __typename }", n)
	return b.String()
}

// nested puts the middle between n opens and n closes.
func nested(n int, open, middle, closes string) string {
	return strings.Repeat(open, n) + middle + strings.Repeat(closes, n)
}

func documents() []attack {
	return concat(fragments(), fields(), directives(), tokens())
}

func fragments() []attack {
	const twice = "...f%[2]d ...f%[2]d"
	return []attack{
		document("fragments that double, 2^10", "200", chain(10, twice)),
		document("fragments that double, 2^11", overLimit+"selections", chain(11, twice)),
		document("fragments that double, 2^20", overLimit+"selections", chain(20, twice)),
		document("fragments that double, 2^30", overLimit+"selections", chain(30, twice)),
		document("60 operations over a chain of fragments", overLimit+"selections",
			each(60, "query q%d { ...f0 } ")+strings.TrimPrefix(chain(65, "...f%[2]d"), "{ ...f0 }")),
		document("a chain of 87 fragments", "200", chain(87, "...f%[2]d")),
		document("a chain of 32 fragments with fields", "200", chain(32, "...f%[2]d"+strings.Repeat(" __typename", 6))),
		document("a chain of 47 fragments with one call", "200 Deployment:NOT_FOUND", chain(47, "...f%[2]d deployment(id: 1) { id }")),
		document("a fragment that spreads itself", invalid, "{ ...a } fragment a on Query { ...a __typename }"),
		document("a circle of three fragments", invalid,
			"{ ...a } fragment a on Query { ...b } fragment b on Query { ...c } fragment c on Query { ...a __typename }"),
		document("circles of fragments nobody spreads", invalid,
			"{ __typename }"+each(60, " fragment a%d on Query { ...b%[1]d } fragment b%[1]d on Query { ...a%[1]d }")),
		document("a circle of 40 fragments", invalid, strings.Replace(chain(40, "...f%[2]d"), "{ __typename }", "{ ...f0 }", 1)),
		document("every fragment spreads every other", overLimit+"selections", mesh(20)),
		document("200 unknown fragments and types", invalid, "{"+each(200, " ...f%d")+" }"+each(60, " fragment g%d on T%[1]d { a }")),
	}
}

// mesh is fragments that each spread all the others, and an operation that spreads none.
func mesh(n int) string {
	var b strings.Builder
	b.WriteString("{ __typename }")
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on Query {", i)
		for j := range n {
			if i != j {
				fmt.Fprintf(&b, " ...f%d", j)
			}
		}
		b.WriteString(" }")
	}
	return b.String()
}

func fields() []attack {
	return []attack{
		document("a field 10,000 times", tooLong, "{"+strings.Repeat(" __typename", 10_000)+" }"),
		document("a short field 8,000 times", overLimit+"tokens", "{"+strings.Repeat(" a", 8000)+" }"),
		document("a field 990 times", "200", "{ viewer {"+strings.Repeat(" name", 990)+" } }"),
		document("2,000 aliases", overLimit+"tokens", "{"+each(2000, "a%d:b ")+"}"),
		document("300 aliases", overLimit+"aliases", "{"+each(300, "a%d:__typename ")+"}"),
		document("100 calls with arguments of their own", invalid, "{"+each(100, ` deployment(id:%d){id}`)+" }"),
		document("100 equal calls", "200 Deployment:NOT_FOUND", "{"+strings.Repeat(" deployment(id:1){id}", 100)+" }"),
		document("240 unused variables", invalid, "query("+each(240, " $v%03d: Int")+") { __typename }"),
		document("200 unknown fields with long names", invalid, "{"+each(200, " moduleDefinitionmoduleDefinitionmodul%03d")+" }"),
		document("240 unknown arguments with long names", invalid,
			"{ moduleDefinitions("+each(240, " organizationIdorganizationIdorganizat%03d: 1")+") { totalCount } }"),
		document("fields 13 deep", overLimit+"depth", "{ deployments { nodes "+nested(11, "{ moduleInstance { liveDeployment ", "{ id }", "} }")+" } }"),
		document("4,000,000 open braces", "413 Request:TOO_LARGE body", strings.Repeat("{a", 2_000_000)),
		document("8,000 open braces", overLimit+"brackets", strings.Repeat("{a", 8000)),
		document("15,000 open brackets in an argument", overLimit+"brackets", "{ node(id: "+strings.Repeat("[", 15_000)),
		document("5,000 open objects in an argument", overLimit+"brackets", "{ node(id: "+strings.Repeat("{a:", 5000)),
		document("900 ids as literals", overLimit+"cost", "{ nodes(ids: ["+strings.Repeat(" 1", 900)+"]) { id ... on Deployment { data { __typename } project { id } environment { id } moduleInstance { deployments(first: 100) { nodes { id } } } release { id } } } }"),
	}
}

func directives() []attack {
	return []attack{
		document("1,000 directives on a field", overLimit+"directives", "{ __typename"+strings.Repeat(" @a", 1000)+" }"),
		document("50 unknown directives on a field", invalid, "{ __typename"+each(50, " @directivedirectivedirectived%d")+" }"),
		document("@skip 50 times on a field", invalid, "{ __typename"+strings.Repeat(" @skip(if: false)", 50)+" }"),
		document("@skip on 100 fields", overLimit+"directives", "{"+strings.Repeat(" __typename @skip(if: false)", 100)+" }"),
		document("@defer on a fragment", invalid, "{ ... @defer { viewer { tokenId } } }"),
		document("directives on operations and fragments", invalid,
			each(24, "query q%d @include(if: true) { ...f } ")+"fragment f on Query @skip(if: true) { __typename }"),
	}
}

func tokens() []attack {
	long := func(text string) string { return strings.Repeat(text, 16<<10/len(text)-80/len(text)) }
	return []attack{
		document("16 KiB of @", overLimit+"directives", long("@")),
		document("16 KiB of #", invalid, long("#")),
		document("16 KiB of empty comments", overLimit+"tokens", long("#\n")),
		document("16 KiB of commas", invalid, long(",")),
		document("16 KiB of byte order marks", invalid, long("\uFEFF")),
		document("16 KiB of line feeds", invalid, long("\n")),
		document("a name of 16 KiB", unparsed, long("a")),
		document("a field's name of 16 KiB", invalid, "{"+long("a")+"}"),
		document("a type's name of 16 KiB", invalid, "query($v: "+long("a")+") { node(id: $v) { id } }"),
		document("a block string of 16 KiB", "200 Node:NOT_FOUND", `{ node(id: """`+long("x")+`""") { id } }`),
		document("a block string of 3,000 lines", "200 Node:NOT_FOUND", `{ node(id: """`+strings.Repeat("    x\n", 2500)+`""") { id } }`),
		document("a string of escapes", "200 Node:NOT_FOUND", `{ node(id: "`+long(`\u00e9`)+`") { id } }`),
		document("a string without an end", unparsed, `{ node(id: "`+long("x")),
		document("a block string without an end", unparsed, `{ node(id: """`+long("x")),
		document("a block string of quotes", unparsed, `{ node(id: """`+long(`\"""`)),
		document("half a surrogate pair 2,000 times", invalid, `{ node(id: "`+strings.Repeat(`\ud800`, 2000)+`") { id } }`),
		document("a number of 15,000 digits", invalid, "{ moduleDefinitions(first: "+strings.Repeat("7", 15_000)+") { totalCount } }"),
		document("1e999999999", invalid, "{ moduleDefinitions(first: 1e999999999) { totalCount } }"),
		document("bytes that begin no token", unparsed, "{ "+long("\x01")+" }"),
	}
}
