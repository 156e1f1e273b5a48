package manifest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop/inputtest"
	"slipway/internal/remote/cli/manifest"
)

const referring = `[
	{"id":"net","label":"N","type":"$ref:net","mapped_inputs":[{"id":"cidr","label":"C","type":"string"}]},
	{"id":"path","label":"P","type":"string"},
	{"id":"free","label":"F","type":"object"},
	{"id":"list","label":"L","type":"object_array","item_inputs":[{"id":"net","label":"N","type":"$ref:net"},{"id":"path","label":"P","type":"string"},
		{"id":"map","label":"M","type":"object_map","item_inputs":[{"id":"net","label":"N","type":"$ref:net"}]}]}
]`

func TestPathsBecomeIDs(t *testing.T) {
	t.Parallel()
	inputs := inputtest.MustDecodeList(t, referring)
	values := strictjson.MustParse(`{"net":"./network","path":"./network","free":{"net":"./network"},"list":[
		{"net":"../staging/network","path":"./x","map":{"a":{"net":"other/dev/net"},"b":{"net":"inst_1"},"c":{"net":null},"d":1}},{"net":"./network"},"x"],"cidr":"../a/b","more":"./y"}`)
	before := string(values.JSON())
	var asked []string
	got, violations, err := manifest.ResolveReferences(t.Context(), inputs, values, manifest.Environment{Project: "shop", Slug: "prod"}, func(_ context.Context, path string) (string, error) {
		asked = append(asked, path)
		return "id of " + path, nil
	})
	if err != nil || len(violations) > 0 {
		t.Fatal(err, violations)
	}
	const want = `{"net":"id of shop/prod/network","path":"./network","free":{"net":"./network"},"list":[` +
		`{"net":"id of shop/staging/network","path":"./x","map":{"a":{"net":"id of other/dev/net"},"b":{"net":"inst_1"},"c":{"net":null},"d":1}},{"net":"id of shop/prod/network"},"x"],"cidr":"../a/b","more":"./y"}`
	if string(got.JSON()) != want {
		t.Errorf("got %s", got.JSON())
	}
	if !slices.Equal(asked, []string{"shop/prod/network", "shop/staging/network", "other/dev/net"}) {
		t.Errorf("asked for %v", asked)
	}
	if string(values.JSON()) != before {
		t.Error("the values were changed")
	}
}

func TestPathsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	inputs := inputtest.MustDecodeList(t, referring)
	env := manifest.Environment{Project: "shop", Slug: "prod"}
	values := strictjson.MustParse(`{"net":"./away","list":[{"net":"./a/b"},{"net":"../x"},{"net":"a/b"},{"net":"/a/b/c"},{"net":"./"},{"net":"./ok"}]}`)
	got, violations, err := manifest.ResolveReferences(t.Context(), inputs, values, env, func(_ context.Context, path string) (string, error) {
		if path == "shop/prod/away" {
			return "", &manifest.PathError{Rule: "reference", Message: "must be an instance, found none at shop/prod/away"}
		}
		return "inst_1", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	places := strings.Join(inputtest.Places(violations), ", ")
	if want := "/net reference, /list/0/net path, /list/1/net path, /list/2/net path, /list/3/net path, /list/4/net path"; places != want {
		t.Errorf("found %s", places)
	}
	if got.Get("list").Items[5].GetText("net") != "inst_1" || got.GetText("net") != "./away" {
		t.Errorf("the values are %s", got.JSON())
	}
	_, violations, err = manifest.ResolveReferences(t.Context(), inputs, strictjson.MustParse(`{"net":"./a","list":[{"net":"shop/prod/a"},{"net":"../a/b"},{"net":"inst_1"}]}`), manifest.Environment{}, func(context.Context, string) (string, error) {
		return "inst_2", nil
	})
	if places := strings.Join(inputtest.Places(violations), ", "); err != nil || places != "/net path, /list/1/net path" || !strings.Contains(violations[0].Message, "there is no environment that it could start in") {
		t.Errorf("without an environment: %v, %v", violations, err)
	}
	broken := errors.New("no connection")
	calls := 0
	_, _, err = manifest.ResolveReferences(t.Context(), inputs, strictjson.MustParse(`{"net":"./a","list":[{"net":"./b"}]}`), env, func(context.Context, string) (string, error) {
		calls++
		return "", broken
	})
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
