package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// hostile are texts that would do something to a terminal, or read as something else in YAML.
var hostile = []string{
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\rb", "a\nb", "a\tb", "\x7f", "\u009b31m", "\u202edeer\u202c", "\u2066x\u2069", "\u200fx", "a\u2028b", "a\u2029b", "\ufeffx", "\U000e0041x", `a\b`,
	"yes", "no", "null", "~", "true", "017", "1_000", "0x1f", "1e3", ".nan", ".inf", "-.inf", "+.INF", "1.10", "-", "- a", "? a", "a: b", " a ", "#c", "a #c", `"`, `'`, "[", "{", "!t", "&a", "*a", "%", "@", "`", "|", ">",
	"::add-mask::x", "  ::set-output name=a::b", "a\n::error::x\n", "##[add-path]/x", "a ##vso[task.setvariable variable=x]y", "##VSO[x]", "##teamcity[x]", "\n\n##[x]\n", "::1", "a::b::c",
	"2026-01-01", "---", "...", "=", "<<", "", "\n", "a\n\nb\n", "\n a", "注文 🚚 e\u0301 👩\u200d💻",
}

// controls finds what a terminal would not show but obey, but for the line ends and colours of the program.
func controls(text string) []rune {
	var found []rune
	for _, r := range regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(text, "") {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Cf, r) && r != '\u200d') {
			found = append(found, r)
		}
	}
	return found
}

// commands finds lines that a service which runs pipelines would take for commands to it.
func commands(text string) (found []string) {
	for line := range strings.Lines(regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(text, "")) {
		lower, begins := strings.ToLower(line), strings.TrimSpace(line)
		if strings.HasPrefix(begins, "::") || strings.Contains(lower, "##[") ||
			strings.Contains(lower, "##vso[") || strings.Contains(lower, "##teamcity[") {
			found = append(found, line)
		}
	}
	return found
}

func TestTextsFromElsewhereDoNothingToATerminal(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		var nodes []string
		for i, text := range hostile {
			quoted, err := json.Marshal(text)
			if err != nil {
				t.Error(err)
			}
			nodes = append(nodes, fmt.Sprintf(`{"id":"prj_%d","slug":%s,"name":%s,"createdAt":"2026-03-01T09:30:00Z","updatedAt":"2026-03-01T09:30:00Z","archivedAt":null}`, i, quoted, quoted))
		}
		_, _ = fmt.Fprintf(w, `{"data":{"projects":{"nodes":[%s],"pageInfo":{"hasNextPage":false}}}}`, strings.Join(nodes, ","))
	})
	h := newHome(t).at(s.URL, "slp_secret").with(map[string]string{"TERM": "dumb"})
	for _, format := range formats {
		p := openTerminal(t, 200)
		if code := h.execute(t.Context(), p.command, io.Discard, "projects", "list", "--limit", "0", "-o", format); code != 0 {
			t.Errorf("%s: exit code %d", format, code)
		}
		shown := p.all()
		if found := controls(shown); found != nil || strings.Contains(shown, "\x1b") {
			t.Errorf("%s: %q is shown in %q", format, found, shown)
		}
		if found := commands(shown); found != nil {
			t.Errorf("%s: commands to a pipeline: %q", format, found)
		}
		if lines := strings.Count(shown, "\n"); format == "tsv" && lines != len(hostile) || format == "name" && lines != len(hostile) || format == "table" && lines != len(hostile)+1 {
			t.Errorf("%s: %d lines", format, lines)
		}
	}
	tsv := h.must(t, "projects", "list", "--limit", "0", "-o", "tsv", "--fields", "name,id")
	for _, line := range []string{`a\tb` + "\tprj_4\n", `a\nb` + "\tprj_3\n", `a\rb` + "\tprj_2\n", `\u{1b}[31mred\u{1b}[0m` + "\tprj_0\n", `a\\b` + "\tprj_14\n"} {
		if !strings.Contains(tsv, line) {
			t.Errorf("tsv has no %q: %q", line, tsv)
		}
	}
	var fromJSON, fromYAML []struct{ Name string }
	if err := json.Unmarshal([]byte(h.must(t, "projects", "list", "--limit", "0", "-o", "json")), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(h.must(t, "projects", "list", "--limit", "0", "-o", "yaml")), &fromYAML); err != nil {
		t.Fatal(err)
	}
	for i, text := range hostile {
		if fromJSON[i].Name != text || fromYAML[i].Name != text {
			t.Errorf("%q is %q in JSON and %q in YAML", text, fromJSON[i].Name, fromYAML[i].Name)
		}
	}
}

func TestErrorsFromElsewhereDoNothingToATerminal(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(409)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"code": "slipway:X:\x1b[2J", "message": "\x1b[31mNo\u202e.\n::add-mask::x ##[add-path]y", "description": "a\x07", "details": []any{map[string]any{"title": "x", "render": "list", "items": []string{"b\x08"}}},
			"action": map[string]any{"label": "::set-env name=c::\x1b", "url": "https://x/\u202e"}, "requestId": "r\x9b",
		})
	})
	h := newHome(t).at(s.URL, "slp_secret")
	for _, format := range formats {
		p := openTerminal(t, 80)
		h.execute(t.Context(), io.Discard, p.command, "whoami", "-o", format)
		shown := p.all()
		if found := controls(shown); found != nil || strings.Contains(shown, "\x1b") || shown == "" {
			t.Errorf("%s: %q is shown in %q", format, found, shown)
		}
		if found := commands(shown); found != nil {
			t.Errorf("%s: commands to a pipeline: %q", format, found)
		}
	}
}

func TestKeysFromElsewhereDoNothingToATerminal(t *testing.T) {
	t.Parallel()
	keys := map[string]any{}
	for _, text := range hostile {
		keys[text] = text
	}
	body, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"data":{"keys":%s}}`, body) })
	h := newHome(t).at(s.URL, "slp_secret")
	for _, format := range formats {
		got := h.must(t, "api", "{ keys }", "-o", format)
		if controls(got) != nil || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q is shown in %q", format, controls(got), got)
		}
		if found := commands(got); found != nil {
			t.Errorf("%s: commands to a pipeline: %q", format, found)
		}
	}
	var fromYAML struct {
		Data struct{ Keys map[string]any }
	}
	if err := yaml.Unmarshal([]byte(h.must(t, "api", "{ keys }", "-o", "yaml")), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keys, fromYAML.Data.Keys); diff != "" {
		t.Error(diff)
	}
}
