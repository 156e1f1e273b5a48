package attacktest_test

import (
	"fmt"
	"strings"
)

// merges are documents whose fields take work to be told apart or taken together.
func merges() []attack {
	same := func(depth, times int) string { // a tree of equal fields
		tree := "id"
		for range depth {
			tree = strings.Repeat(" node(id:1){"+tree+"}", times)
			if len(tree) > 12_000 {
				break
			}
			tree = strings.ReplaceAll(tree, "node(id:1)", "organization")
		}
		return tree
	}
	return []attack{
		document("100 calls that differ in an argument", invalid, "{ viewer {"+strings.Repeat(" name", 200)+each(100, " id(a:%d)")+" } }"),
		document("245 equal fields with fields", "200", "{"+strings.Repeat(" viewer{name}", 245)+" }"),
		document("equal fields in 50 inline fragments", "200", nested(55, "{ ...", "{"+strings.Repeat(" __typename", 800)+" }", " }")),
		document("equal trees of fields", "200", "{ viewer {"+same(1, 200)+" } }"),
		document("deep equal selections", "200 Deployment:NOT_FOUND", "{"+strings.Repeat(" deployment(id:1) { project { id } moduleInstance { id } }", 55)+" }"),
		document("inline fragments on each implementation", "200 Node:NOT_FOUND", "{ node(id: 1) {"+implementations(12)+" } }"),
		document("abstract beside concrete fields", "200 Node:NOT_FOUND", "{ node(id: 1) {"+strings.Repeat(" id", 300)+implementations(12)+" } }"),
		document("abstract over abstract fields", "200 Node:NOT_FOUND", "{ node(id: 1) {"+strings.Repeat(" ... on Node {"+strings.Repeat(" id", 20)+" }", 18)+implementations(8)+" } }"),
		document("abstract fields beside the 14 types of a union", "200", "{ defaultValueDefinitions { nodes { schema {"+beside(300)+" } } } }"),
		document("more abstract fields beside them", overLimit+"merging", "{ defaultValueDefinitions { nodes { schema {"+beside(750)+" } } } }"),
		document("lists of inline fragments", "200", "{"+strings.Repeat(" ... { ... { __typename } }", 120)+" }"),
		document("long equal arguments 3 times", "200 Node:NOT_FOUND", "{"+strings.Repeat(` node(id: "`+strings.Repeat(`\"`, 2500)+`") { id }`, 3)+" }"),
		document("equal lists as arguments", "200 Node:NOT_FOUND", "{"+strings.Repeat(" nodes(ids: ["+strings.Repeat(" 1", 100)+"]) { id }", 8)+" }"),
		document("fragments that merge with one another", "200", "{"+each(40, " ...f%d")+" }"+each(40, " fragment f%d on Query { viewer { tokenId name role } __typename }")),
	}
}

// beside is n fields of an interface, beside one of each of its types.
func beside(n int) string {
	text := " ... on InputPropertyBase {" + strings.Repeat(" id", n) + " }"
	for _, kind := range []string{
		"String", "Text", "Object", "ObjectMap", "ObjectArray", "Array", "StringArray", "Number", "Boolean", "Section", "Compound",
		"Reference", "GitRepo", "KeyValue",
	} {
		text += " ... on " + kind + "Property { id }"
	}
	return text
}

// implementations selects in each type of Node a record's organization n times over.
func implementations(n int) string {
	var b strings.Builder
	for _, kind := range []string{"Deployment", "Release", "ModuleInstance", "ModuleDefinition", "ModuleVersion", "Project", "Environment"} {
		fmt.Fprintf(&b, " ... on %s {%s }", kind, strings.Repeat(" id", n))
	}
	return b.String()
}
