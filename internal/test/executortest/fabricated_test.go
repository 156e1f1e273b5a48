package executortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/ent"
	"slipway/graph/scalar"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/inputprop"
	"slipway/internal/test/resolvertest"
)

// fabricator makes up what resolvers return: any value of the result's type, the same for the same seed, field, object
// and arguments.
type fabricator struct {
	seed uint64
	how  behaviour
}

// behaviour is what resolvers do besides returning values.
type behaviour int

const (
	// work: some values are null.
	work behaviour = iota
	// fail: they fail, panic, return nothing or let others go first, at every depth.
	fail
	// expire: the time of the request may be over after one of the root.
	expire
	// exceed: answers are limited to so few bytes that many are refused.
	exceed
)

// call is a resolvertest.Call.
func (f fabricator) call(ctx context.Context, field resolvertest.Field, _ func(context.Context) (any, error)) (any, error) {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, f.seed, field.Name)
	hash(h, reflect.ValueOf(field.Parent), 3)
	hash(h, reflect.ValueOf(field.Args), 6)
	m := maker{rand.New(rand.NewPCG(h.Sum64(), f.seed)), .02}
	switch f.how {
	case work, exceed:
	case fail:
		m.nulls = .06
		if failed, err := m.fail(field); failed {
			return nil, err
		}
	case expire:
		if expire, ok := ctx.Value(expireKey{}).(context.CancelFunc); ok && field.Parent == nil && m.IntN(2) == 0 {
			expire()
		}
	}
	return m.make(field.Type, 4).Interface(), nil
}

// expireKey is the key of the function that ends a request.
type expireKey struct{}

// fail fails at random.
func (m maker) fail(field resolvertest.Field) (failed bool, _ error) {
	switch m.IntN(50) {
	case 0:
		return true, errors.New("secret")
	case 1:
		return true, fault.New(fault.NodeNotFound, "Nothing for %s.", field.Name)
	case 2:
		panic("of " + field.Name)
	case 3:
		return field.Type.Kind() != reflect.Chan, nil // no events would ever come
	case 4:
		return true, gqlerror.List{gqlerror.Errorf("one"), gqlerror.Errorf("two")}
	case 5:
		return true, context.DeadlineExceeded
	case 6, 7, 8, 10, 11, 12:
		for range m.IntN(200) {
			runtime.Gosched()
		}
	case 9:
		panic(fmt.Errorf("error of %s", field.Name))
	}
	return false, nil
}

// hash writes what is exported of a value, down to a depth.
func hash(to io.Writer, v reflect.Value, depth int) {
	if !v.IsValid() || depth < 0 {
		return
	}
	if t, ok := reflect.TypeAssert[time.Time](v); ok {
		_, _ = fmt.Fprint(to, t.UnixNano())
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		hash(to, v.Elem(), depth)
	case reflect.Struct:
		_, _ = fmt.Fprint(to, v.Type().Name())
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				hash(to, v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			hash(to, v.Index(i), depth-1)
		}
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Float64:
		_, _ = fmt.Fprint(to, "|", v.Interface())
	default: // functions and the like make no difference
	}
}

// maker makes values at random.
type maker struct {
	*rand.Rand
	// nulls is how often a pointer is nil.
	nulls float64
}

func typesOf(values ...any) (types []reflect.Type) {
	for _, v := range values {
		types = append(types, reflect.TypeOf(v))
	}
	return types
}

// implementations are the types of values that stand for an interface. The first of each is of none of the schema.
var implementations = map[reflect.Type][]reflect.Type{
	reflect.TypeFor[scalar.Node](): typesOf("no record", &ent.Token{}, &ent.Organization{}, &record.Release{}, &record.Deployment{}, &record.Project{},
		&record.Environment{}, &record.ModuleVersion{}, &record.ModuleInstance{}, &record.ModuleDefinition{}, &record.DefaultValueDefinition{}),
	reflect.TypeFor[scalar.DeploymentData](): typesOf("no data", &ecs.Data{}),
	reflect.TypeFor[inputprop.Values]():      typesOf(&inputprop.StaticValues{}, &inputprop.DynamicValuesRef{}),
	reflect.TypeFor[inputprop.Property](): typesOf(&inputprop.StringProperty{}, &inputprop.TextProperty{}, &inputprop.ObjectProperty{},
		&inputprop.ObjectMapProperty{}, &inputprop.ObjectArrayProperty{}, &inputprop.ArrayProperty{}, &inputprop.StringArrayProperty{},
		&inputprop.NumberProperty{}, &inputprop.BooleanProperty{}, &inputprop.SectionProperty{}, &inputprop.CompoundProperty{},
		&inputprop.ReferenceProperty{}, &inputprop.GitRepoProperty{}, &inputprop.KeyValueProperty{}),
}

// make makes a value of a type, down to a depth.
func (m maker) make(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch t {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1_800_000_000+m.Int64N(1e6), m.Int64N(3)*123_000_000)))
		return v
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([][]byte{[]byte(`{"a":[1,2.50,null]}`), []byte(`"text"`), nil, []byte(`[]`)}[m.IntN(4)])
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		if depth > 0 && m.Float64() > m.nulls {
			made := reflect.New(t.Elem())
			made.Elem().Set(m.make(t.Elem(), depth-1))
			v.Set(made)
		}
	case reflect.Interface:
		if of := implementations[t]; depth > 0 && len(of) > 0 && m.Float64() > m.nulls {
			made := m.make(of[m.IntN(len(of))], depth)
			if made.Type().Implements(t) {
				v.Set(made)
			}
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(m.make(t.Field(i).Type, depth))
			}
		}
	case reflect.Slice:
		if m.Float64() < m.nulls {
			break
		}
		length := []int{0, 1, 1, 2, 2, 3}[m.IntN(6)]
		if depth <= 0 {
			length = 0
		}
		v.Set(reflect.MakeSlice(t, length, length))
		for i := range length {
			v.Index(i).Set(m.make(t.Elem(), depth-1))
		}
	case reflect.Chan:
		items := reflect.MakeChan(reflect.ChanOf(reflect.BothDir, t.Elem()), 3)
		for range m.IntN(4) {
			items.Send(m.make(t.Elem(), depth))
		}
		items.Close()
		v.Set(items.Convert(t))
	case reflect.String:
		v.SetString([]string{"", "plain", "quoted \" and \\", "control \x01\b\n\r\t", "ünï \u2028 \xff", fmt.Sprint("text ", m.IntN(1e6))}[m.IntN(6)])
	case reflect.Bool:
		v.SetBool(m.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(m.IntN(1000) - 500))
	case reflect.Float64:
		v.SetFloat(m.Float64())
	default: // maps and functions stay nil
	}
	return v
}
