package cli_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const comparison = `{"data":{"compareDeployments":{"from":{"id":"dep_a","moduleInstance":{}},"to":{"id":"dep_b","moduleInstance":{}},"sameRelease":false,
	"fromVersion":{"version":"1.2.0","moduleDefinition":{"type":"acme/queue"}},"toVersion":{"version":"1.3.0","moduleDefinition":{"type":"acme/queue"}},
	"inputs":[{"pointer":"/size","kind":"CHANGED","before":1.10,"after":12345678901234567890,"masked":false,"immutable":true},
		{"pointer":"/note","kind":"ADDED","before":null,"after":"a|b ` + "``" + ` \u001b","masked":false,"immutable":false},
		{"pointer":"/old","kind":"REMOVED","before":{"a":null},"after":null,"masked":false,"immutable":false}],
	"artifact":[{"pointer":"/password","kind":"CHANGED","before":null,"after":null,"masked":true,"immutable":false}]}}}`

func TestDifferencesAreShownByLeaf(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, comparison) })
	h := newHome(t).at(s.URL, "slp_secret")
	ids := []string{"compare", "dep_01kb0000000000000000000000", "dep_01kb0000000000000000000001"}
	for format, want := range map[string]string{
		"table": `   WHERE               BEFORE            AFTER
~  version             acme/queue 1.2.0  acme/queue 1.3.0
~  /size               1.10              12345678901234567890  immutable
+  /note                                 "a|b ` + "``" + ` \u001b"
-  /old                {"a":null}
~  artifact:/password                                          masked
`,
		"tsv": "~\tversion\tacme/queue 1.2.0\tacme/queue 1.3.0\t\n~\t/size\t1.10\t12345678901234567890\timmutable\n+\t/note\t\t\"a|b `` \\\\u001b\"\t\n-\t/old\t{\"a\":null}\t\t\n~\tartifact:/password\t\t\tmasked\n",
		"markdown": "| | where | before | after | |\n|---|---|---|---|---|\n| `~` | `version` | `acme/queue 1.2.0` | `acme/queue 1.3.0` |  |\n" +
			"| `~` | `/size` | `1.10` | `12345678901234567890` | immutable |\n| `+` | `/note` |  | ``` \"a\\|b `` \\u001b\" ``` |  |\n" +
			"| `-` | `/old` | `{\"a\":null}` |  |  |\n| `~` | `artifact:/password` |  |  | masked |\n",
		"name": "dep_a dep_b\n",
	} {
		if got := h.must(t, append(ids, "-o", format)...); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
	if got := h.must(t, append(ids, "-o", "json")...); !strings.Contains(got, `"before": 1.10,`) || !strings.Contains(got, `"after": 12345678901234567890,`) {
		t.Errorf("got %s", got)
	}
	if o := h.run(t, append(ids, "--exit-code", "-o", "name")...); o.code != 3 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
}

func TestOutputsAreShownByName(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(readQuery(t, r), "InstanceOutputs") {
			_, _ = fmt.Fprint(w, `{"data":{"moduleInstance":{"outputs":{"queue.url":"https://q","ports":["a","b"],"size":1.10,"nested":{"x":1}}}}}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"data":{"moduleInstance":%s}}`, instanceJSON(1))
	})
	h := newHome(t).at(s.URL, "slp_secret")
	for args, want := range map[string]string{
		"":                               "queue.url  https://q\nports      a,b\nsize       1.10\nnested.x   1\n",
		"-o tsv":                         "queue.url\thttps://q\nports\ta,b\nsize\t1.10\nnested\t{\"x\":1}\n",
		"-o name":                        "queue.url\nports\nsize\nnested\n",
		"-o yaml":                        "queue.url: https://q\nports:\n  - a\n  - b\nsize: 1.10\nnested:\n  x: 1\n",
		"--fields size,queue.url -o tsv": "1.10\thttps://q\n",
		"--fields size -o json":          "{\n  \"size\": 1.10\n}\n",
	} {
		if got := h.must(t, append([]string{"outputs", "shop/prod/service-1"}, strings.Fields(args)...)...); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	h.mustFail(t, 2, []string{"--fields: want some of queue.url, ports, size, nested, nested.x, found \"none\""}, "outputs", "shop/prod/service-1", "--fields", "none")
}
