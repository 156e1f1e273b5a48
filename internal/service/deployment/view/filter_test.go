package view_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/service/deployment/view"
)

// A condition lasts if nothing updates its column. If one were missing in lasting, streams would tell of deployments
// that were never in the filter; if one were too many, a deployment would leave it untold.
func TestTheConditionsThatLastAreThoseOnWhatNeverChanges(t *testing.T) {
	t.Parallel()
	all, lasting := filled().Columns()
	record, update := reflect.TypeFor[ent.Deployment](), reflect.TypeFor[*ent.DeploymentUpdateOne]()
	known := 0
	for _, f := range reflect.VisibleFields(record) {
		column, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !slices.Contains(all, column) {
			continue
		}
		known++
		_, changes := update.MethodByName("Set" + f.Name)
		if lasts := slices.Contains(lasting, column); lasts == changes {
			t.Errorf("%s: something updates it: %t; its condition lasts: %t", column, changes, lasts)
		}
	}
	if distinct := len(slices.Compact(slices.Sorted(slices.Values(all)))); known != distinct || known < 5 {
		t.Errorf("%d columns have conditions, and %d of them are a deployment's: %v", distinct, known, all)
	}
}

// filled returns a filter with every condition.
func filled() (f view.Filter) {
	v := reflect.ValueOf(&f).Elem()
	for i := range v.NumField() {
		switch field := v.Field(i); field.Kind() {
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 2, 2))
		}
	}
	return f
}
