package inputprop_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/pure/inputprop"
)

var (
	_ driver.Valuer = inputprop.Column{}
	_ sql.Scanner   = (*inputprop.Column)(nil)
	_ driver.Valuer = inputprop.ListColumn{}
	_ sql.Scanner   = (*inputprop.ListColumn)(nil)
)

func TestColumnsGiveBackWhatWasStored(t *testing.T) {
	t.Parallel()
	list, _ := inputprop.DecodeList(parse(t, fixture(t)), "")
	stored, err := inputprop.NewListColumn(list).Value()
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, stored.(string), fixture(t))
	for _, src := range []any{stored, []byte(stored.(string))} {
		var column inputprop.ListColumn
		if err := column.Scan(src); err != nil {
			t.Fatal(err)
		}
		again, err := column.Properties(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list, again); diff != "" {
			t.Error(diff)
		}
	}
	one := inputprop.NewColumn(list[3])
	again, err := one.Property(t.Context())
	if diff := cmp.Diff(list[3], again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	sameJSON(t, string(one.JSON()), string(inputprop.Encode(list[3])))
}

func TestColumnsCopyTheDriversBuffer(t *testing.T) {
	t.Parallel()
	buffer := []byte(`{"id":"a","label":"A","type":"section"}`)
	var column inputprop.Column
	if err := column.Scan(buffer); err != nil {
		t.Fatal(err)
	}
	copy(buffer, strings.Repeat("x", len(buffer)))
	if p, err := column.Property(t.Context()); err != nil || p.Head().ID != "a" {
		t.Error(p, err)
	}
}

func TestNULLIsNothing(t *testing.T) {
	t.Parallel()
	column := inputprop.NewColumn(mustDecode(t, `{"id":"a","label":"A","type":"section"}`))
	if err := column.Scan(nil); err != nil {
		t.Fatal(err)
	}
	p, err := column.Property(t.Context())
	if stored, _ := column.Value(); p != nil || err != nil || stored != nil || column.JSON() != nil {
		t.Error(p, err, stored)
	}
	list := inputprop.NewListColumn(nil)
	if stored, _ := list.Value(); stored != "[]" {
		t.Errorf("the empty list is stored as %v", stored)
	}
	if err := list.Scan(nil); err != nil {
		t.Fatal(err)
	}
	properties, err := list.Properties(t.Context())
	if stored, _ := list.Value(); properties != nil || err != nil || stored != nil || list.JSON() != nil {
		t.Error(properties, err, stored)
	}
}

func TestWhatIsNoPropertyIsAnErrorOnReading(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`{`: "stored inputs: expected a key", `{"id":"a"}`: `the first at "/label": is required`} {
		var column inputprop.Column
		if err := column.Scan(text); err != nil {
			t.Fatal(err)
		}
		if p, err := column.Property(t.Context()); p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v", text, p, err)
		}
		var list inputprop.ListColumn
		if err := list.Scan(`[` + text + `]`); err != nil {
			t.Fatal(err)
		}
		if p, err := list.Properties(t.Context()); p != nil || err == nil {
			t.Errorf("%s: got %v, %v", text, p, err)
		}
	}
	if err := new(inputprop.Column).Scan(7); err == nil || !strings.Contains(err.Error(), "found int") {
		t.Error(err)
	}
	if err := new(inputprop.ListColumn).Scan(7); err == nil {
		t.Error("a number was scanned")
	}
}

func TestTheDeepestAndLongestPropertyIsReadBack(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat(`"`+strings.Repeat("<", 9_000)+`",`, 40)
	p := mustDecode(t, `{"id":"a","label":"A","type":"array","default":[`+wide+strings.Repeat("[", 62)+strings.Repeat("]", 62)+`]}`)
	if again, err := inputprop.NewColumn(p).Property(t.Context()); err != nil || !bytes.Equal(inputprop.Encode(p), inputprop.Encode(again)) {
		t.Error(err)
	}
	list := []inputprop.Property{p}
	if again, err := inputprop.NewListColumn(list).Properties(t.Context()); err != nil || !bytes.Equal(inputprop.EncodeList(list), inputprop.EncodeList(again)) {
		t.Error(err)
	}
}
