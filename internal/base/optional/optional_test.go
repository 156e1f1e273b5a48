package optional_test

import (
	"testing"

	"slipway/internal/base/optional"
)

func TestAnAbsentValueIsZeroAndEqualOnlyToAnother(t *testing.T) {
	t.Parallel()
	if optional.OrZero[string](nil) != "" || optional.OrZero(new("a")) != "a" {
		t.Error("OrZero of nothing and of a value")
	}
	if optional.NonZero("") != nil || *optional.NonZero("a") != "a" {
		t.Error("NonZero of the zero value and of another")
	}
	for _, c := range []struct {
		a, b *string
		want bool
	}{
		{nil, nil, true}, {nil, new(""), false}, {new(""), nil, false}, {new("a"), new("a"), true}, {new("a"), new("b"), false},
	} {
		if is := optional.Equal(c.a, c.b); is != c.want {
			t.Errorf("Equal(%v, %v) is %v", c.a, c.b, is)
		}
	}
}
