package inputrules_test

import (
	"strings"
	"testing"

	"slipway/internal/pure/inputvalues"
)

func TestStoredDefaultsThatAreRefusedNowCountAsAbsent(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		in("a", "string", listed, `"default":""`):                                        "/inputs/0/default",
		in("a", "string_array", lower, `"default":["b",""]`):                             "/inputs/0/default/1",
		in("a", "object", `"default":{"n":1e400}`):                                       "/inputs/0/default/n",
		in("a", "text", `"default":"${{ cluster.name }}"`):                               "/inputs/0/default",
		in("a", "number", `"max":3,"default":4`):                                         "/inputs/0/default",
		mapOf("a", in("n", "number"), `"default":{"k":{"n":""}}`):                        "/inputs/0/default/k/n",
		in("a", "string", listed, `"default":"b"`):                                       "",
		in("a", "string", `"patterns":[{"pattern":"slow","message":"m"}],"default":"b"`): "",
		in("a", "text", `"default":"${{ project.slug }}"`):                               "",
		reference("r", in("a", "number", `"default":"${{ ref.input.n }}"`)):              "",
	} {
		list := mustDecodeList(t, "["+input+"]")
		warnings, err := rules.DropRefused(t.Context(), list, "/inputs")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range warnings {
			got = append(got, w.Pointer)
			if w.Rule != "default_refused" {
				t.Error(w)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", input, got, want)
		}
		r, _, err := values.Resolve(t.Context(), list, nil, "", inputvalues.Env{})
		if err != nil || want != "" && r.Values.Get("a") != nil {
			t.Errorf("%s: %s, %v", input, r.Values.JSON(), err)
		}
	}
}
