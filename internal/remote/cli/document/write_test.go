package document_test

import (
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/remote/cli/document"
)

func TestWritesAsPeopleDo(t *testing.T) {
	t.Parallel()
	const json = `{"name":"orders","version":"1.30","no":"no","on":true,"empty":{},"list":["a b",1.30,null,["x",{"k":"v"}],[]],` +
		`"text":"two\n  lines\n","cut":"a\nb","odd":" a\nb","ref":"./net","kind":"aws:ecs","path":"shop/prod/net","a: b":"c # d","é":"é"}`
	const want = `name: orders
version: "1.30"
"no": "no"
"on": true
empty: {}
list:
  - a b
  - 1.30
  - null
  - - x
    - k: v
  - []
text: |
  two
    lines
cut: |-
  a
  b
odd: " a\nb"
ref: ./net
kind: aws:ecs
path: shop/prod/net
"a: b": "c # d"
"é": "é"
`
	if got := document.Write(strictjson.MustParse(json), ""); got != want {
		t.Errorf("got\n%s", got)
	}
	if d, err := document.Read("x.yaml", []byte(want)); err != nil || string(d.JSON()) != json {
		t.Errorf("it is read as %v, %v", d, err)
	}
}
