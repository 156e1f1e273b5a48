package document_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"slipway/internal/edge/gqlhttp/document"
)

var plain = map[string]string{
	"deployment": `query($id: ID!) { deployment(id: $id) { id status createdAt moduleInstance { id name } project { id name } } }`,
	"page": `{ moduleDefinitions(first: 20) { totalCount pageInfo { hasNextPage endCursor }
		nodes { id name type description status versions(first: 3) { nodes { id version createdAt } } latestModuleVersion { id version } } } }`,
}

// chain spreads fragment 0, and each fragment what the format makes of the next one's number.
func chain(n int, format string) string {
	var b strings.Builder
	b.WriteString("{ ...f0 }")
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on Query { "+format+" }", i, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on Query { __typename }", n)
	return b.String()
}

// hostile are documents of the served schema that are made for work. Some are over a limit; the others
// are as much as the limits let through.
var hostile = map[string]string{
	"brackets":              strings.Repeat("{a", 2_000_000),
	"lists":                 "{ node(id: " + strings.Repeat("[", 4_000_000),
	"equal fields":          "{" + strings.Repeat(" __typename", 10_000) + " }",
	"doubling":              chain(30, "...f%[2]d ...f%[2]d"),
	"operations":            repeat(48, "query q%d { ...f0 } ") + strings.TrimPrefix(chain(65, "...f%[2]d"), "{ ...f0 }"),
	"circle":                "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }",
	"within/equal fields":   "{ viewer {" + strings.Repeat(" name", 990) + " } }",
	"within/inline":         nested(60, "{ ...", "{"+strings.Repeat(" __typename", 800)+" }", " }"),
	"chain":                 chain(120, "...f%[2]d"),
	"within/chain":          chain(87, "...f%[2]d"),
	"within/chain, fields":  chain(32, "...f%[2]d"+strings.Repeat(" __typename", 6)),
	"within/chain, inline":  chain(49, "...f%[2]d ... on Query { __typename }"),
	"within/chain, skip":    chain(50, "...f%[2]d __typename @skip(if: true)"),
	"within/chain, args":    chain(47, "...f%[2]d deployment(id: 1) { id }"),
	"within/operations":     repeat(20, "query q%d { ...f0 } ") + strings.TrimPrefix(chain(48, "...f%[2]d"), "{ ...f0 }"),
	"within/list":           "{ nodes(ids: [" + strings.Repeat(" 1", 980) + "]) { id } }",
	"within/variables":      "query(" + repeat(150, " $v%03d: Int") + ") {" + repeat(28, " a%[1]d: moduleDefinitions(first: $v%03[1]d) { totalCount }") + " }",
	"within/unknown fields": "{" + repeat(200, " moduleDefinitionmoduleDefinitionmodul%03d") + " }",
	"within/unknown types":  "{ __typename }" + repeat(120, " fragment f%03d on ModuleDefinitionConnectionModuleDefin%03[1]d { id }"),
	"within/unknown inputs": "{ moduleDefinitions(" + repeat(240, " organizationIdorganizationIdorganizat%03d: 1") + ") { totalCount } }",
	"within/wrong literals": "{ nodes(ids: [" + repeat(130, " {a%d: [1]}") + "]) { id } }",
	"within/long name":      "{ " + strings.Repeat("m", 16_000) + " }",
}

func BenchmarkGuard(b *testing.B) {
	schema := served(b)
	for name, query := range plain {
		b.Run(name+"/first", func(b *testing.B) { benchmark(b, schema, query) })
		b.Run(name+"/again", func(b *testing.B) {
			check := checker(schema, document.Config{Introspection: true})
			for b.Loop() {
				_ = check(query)
			}
		})
		b.Run(name+"/library", func(b *testing.B) {
			standard := rules.NewDefaultRules()
			for b.Loop() {
				doc, _ := parser.ParseQuery(&ast.Source{Input: query})
				_ = validator.ValidateWithRules(schema, doc, standard)
			}
		})
	}
	for name, query := range hostile {
		b.Run("hostile/"+name, func(b *testing.B) { benchmark(b, schema, query) })
	}
}

// benchmark checks a document as if it were new each time.
func benchmark(b *testing.B, schema *ast.Schema, query string) {
	check := checker(schema, document.Config{Introspection: true, Kept: 2})
	for i := 0; b.Loop(); i++ {
		if len(query) < 20_000 {
			_ = check(fmt.Sprint(query, " #", i))
		} else {
			_ = check(query) // it is not kept
		}
	}
}

// BenchmarkKeptDocuments measures how much memory stays in use after 1,000 documents of a kind.
func BenchmarkKeptDocuments(b *testing.B) {
	schema := served(b)
	for name, query := range map[string]string{
		"plain": plain["page"], "fields": "{" + strings.Repeat(" __typename", 980) + "}", "list": hostile["within/list"],
		"text": `{ nodes(ids: ["` + strings.Repeat(`x\n`, 5000) + `"]) { id } }`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := inUse()
				check := checker(schema, document.Config{Introspection: true, Limits: document.Limits{Cost: 1 << 30}})
				for i := range 1000 {
					if err := check(fmt.Sprint(query, " #", i)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(inUse()-before)/(1<<20), "MiB")
				_ = check(query)
			}
		})
	}
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
