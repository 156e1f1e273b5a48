package ecs_test

import (
	"database/sql"
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/pure/ecs"
)

var (
	_ driver.Valuer = ecs.Column{}
	_ sql.Scanner   = (*ecs.Column)(nil)
)

func TestAColumnStoresAndReadsData(t *testing.T) {
	t.Parallel()
	want := decoded(t, full)
	value, err := want.Column().Value()
	if err != nil {
		t.Fatal(err)
	}
	text, ok := value.(string)
	if !ok || text != string(want.Encode()) {
		t.Fatalf("stored: %v", value)
	}
	for _, from := range []any{text, []byte(text)} {
		var c ecs.Column
		if err := c.Scan(from); err != nil {
			t.Fatal(err)
		}
		got, err := c.Data()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || string(c.JSON()) != text || c.IsZero() {
			t.Errorf("from a %T: %s", from, diff)
		}
	}
}

func TestAColumnOutlivesTheDriversBuffer(t *testing.T) {
	t.Parallel()
	buffer := []byte(`{"type":"aws:ecs"}`)
	var c ecs.Column
	if err := c.Scan(buffer); err != nil {
		t.Fatal(err)
	}
	clear(buffer)
	if got := string(c.JSON()); got != `{"type":"aws:ecs"}` {
		t.Errorf("got %q", got)
	}
}

func TestNoDataIsNull(t *testing.T) {
	t.Parallel()
	c := (&ecs.Data{Type: ecs.Type}).Column()
	if err := c.Scan(nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []ecs.Column{{}, c, (*ecs.Data)(nil).Column()} {
		value, err := c.Value()
		data, dataErr := c.Data()
		if value != nil || err != nil || data != nil || dataErr != nil || c.JSON() != nil || !c.IsZero() {
			t.Errorf("got %v %v, %v %v, %s", value, err, data, dataErr, c.JSON())
		}
	}
}

func TestAForeignColumnIsAnError(t *testing.T) {
	t.Parallel()
	var c ecs.Column
	if err := c.Scan(5); err == nil || !strings.Contains(err.Error(), "found int") {
		t.Errorf("a number: got %v", err)
	}
	if err := c.Scan(`{"type":`); err != nil {
		t.Fatal(err)
	}
	if d, err := c.Data(); err == nil || d != nil {
		t.Errorf("half a text: got %v, %v", d, err)
	}
}

func TestColumnsReadWhatAReplayTakesOverAsDataHasIt(t *testing.T) {
	t.Parallel()
	data := decoded(t, full)
	var c ecs.Column
	if err := c.Scan(string(data.Encode())); err != nil {
		t.Fatal(err)
	}
	target, err := c.Target()
	want := &ecs.Data{
		Type: ecs.Type, ClusterARN: data.ClusterARN, ServiceARN: data.ServiceARN,
		PreDeployEnabled: data.PreDeployEnabled, PostDeployEnabled: data.PostDeployEnabled,
	}
	if diff := cmp.Diff(want, target); err != nil || diff != "" {
		t.Errorf("%v:\n%s", err, diff)
	}
	deployed, err := c.DeployedTaskDefinition()
	if diff := cmp.Diff(data.DeployedTaskDefinition, deployed); err != nil || diff != "" {
		t.Errorf("%v:\n%s", err, diff)
	}
	if err := c.Scan(`{"type":"aws:ecs","deployedTaskDefinition":null}`); err != nil {
		t.Fatal(err)
	}
	if deployed, err := c.DeployedTaskDefinition(); deployed != nil || err != nil {
		t.Errorf("of null: %v, %v", deployed, err)
	}
	var none ecs.Column
	if target, err := none.Target(); target != nil || err != nil {
		t.Errorf("of nothing: %v, %v", target, err)
	}
}
