package jsregexp_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"modernc.org/libquickjs"
	"modernc.org/quickjs"

	"slipway/internal/base/jsregexp"
)

// oracle is QuickJS, which runs what it compiles itself.
type oracle struct {
	vm               *quickjs.VM
	construct, match quickjs.Value
}

// oracleTime is how long the oracle thinks about a match.
const oracleTime = 200 * time.Millisecond

func newOracle(t testing.TB) *oracle {
	t.Helper()
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{vm: vm}
	if o.construct, err = vm.EvalValue(`(pattern) => new RegExp(pattern)`, quickjs.EvalGlobal); err != nil {
		t.Fatal(err)
	}
	if o.match, err = vm.EvalValue(`RegExp.prototype.test`, quickjs.EvalGlobal); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.construct.Free()
		o.match.Free()
		vm.Close()
	})
	if err := vm.SetEvalTimeout(oracleTime); err != nil {
		t.Fatal(err)
	}
	return o
}

// compile returns the RegExp of a pattern, which the caller frees, and the reason why there is none.
func (o *oracle) compile(pattern string) (quickjs.Value, string) {
	rewritten, err := jsregexp.Rewrite(pattern)
	if err != nil {
		return quickjs.Value{}, err.Error()
	}
	regexp, err := o.construct.CallValue(quickjs.UndefinedValue, rewritten)
	if thrown, ok := errors.AsType[*quickjs.Error](err); ok {
		return regexp, (&jsregexp.SyntaxError{Message: thrown.Message}).Error()
	}
	return regexp, ""
}

// trial compares the engine with the oracle on texts, and returns how many verdicts there were of both.
func (o *oracle) trial(t testing.TB, e *jsregexp.Engine, pattern string, texts ...string) (both int) {
	t.Helper()
	regexp, refusal := o.compile(pattern)
	err := compile(t, e, pattern)
	if refusal != "" {
		if err == nil || err.Error() != refusal {
			t.Errorf("Compile(%q) = %v, the oracle: %s", pattern, err, refusal)
		}
		return 0
	}
	defer regexp.Free()
	if err != nil { // what the oracle does not look at: names and the costs of compiling
		return 0
	}
	for _, text := range texts {
		want, slow := o.match.Call(regexp, text)
		got, err := test(t, e, pattern, text)
		if errors.Is(err, jsregexp.ErrTooSlow) || slow != nil {
			continue
		}
		if got != want || err != nil {
			t.Errorf("Test(%q, %.100q) = %t, %v, the oracle: %v", pattern, text, got, err, want)
		}
		both++
	}
	return both
}

func TestRandomPatternsMatchAsWithTheOracle(t *testing.T) {
	t.Parallel()
	e, o := engine(t, 1), newOracle(t)
	g := generator{rand.New(rand.NewPCG(1, 2))}
	both := 0
	for range 3_000 {
		both += o.trial(t, e, g.pattern(3), g.text(g.IntN(6)), g.text(g.IntN(40)), g.uniform(g.IntN(30)), "")
	}
	for range 150 {
		both += o.trial(t, e, g.pattern(2), g.text(3_000), g.uniform(2_000))
	}
	if both < 8_000 {
		t.Errorf("%d verdicts are too few to tell anything", both)
	}
}

func TestRecordedPatternsMatchAsWithTheOracle(t *testing.T) {
	t.Parallel()
	e, o := engine(t, 1), newOracle(t)
	both := 0
	for _, tr := range trials(t) {
		both += o.trial(t, e, tr.Pattern, tr.Samples...)
	}
	if both < 30_000 {
		t.Errorf("%d verdicts are too few to tell anything", both)
	}
}

// Each code unit that a text can have is taken or not as the oracle says, also if its case is not regarded.
func TestEveryCharacterIsTakenAsWithTheOracle(t *testing.T) {
	t.Parallel()
	e, o := engine(t, 1), newOracle(t)
	all := make([]rune, 0, 1<<16)
	for r := range rune(1 << 16) {
		if !utf16.IsSurrogate(r) {
			all = append(all, r)
		}
	}
	for _, pattern := range []string{
		`\s`, `\S`, `\w`, `\W`, `\d`, `.`, `[^]`, `(?s:.)`, `(?i:\w)`, `(?i:[^\w])`, `(?i:[à-ü])`, `(?i:\u0130|ſ|k|ß)`, `[\u2000-\uffff]`,
		`^\b`, `(?i:^\b)`, `(?i:^\B)`, `(?m:..^)`, `(?m:.$.)`, `(?i:(.)\1)`,
	} {
		regexp, refusal := o.compile(pattern)
		if refusal != "" {
			t.Fatalf("%q: %s", pattern, refusal)
		}
		for _, r := range all {
			text := string([]rune{r, unicode.ToUpper(r), 'a'})
			want, slow := o.match.Call(regexp, text)
			if got, err := test(t, e, pattern, text); got != want || err != nil || slow != nil {
				t.Errorf("Test(%q, %q) = %t, %v, the oracle: %v, %v", pattern, text, got, err, want, slow)
			}
		}
		regexp.Free()
	}
}

// Who adds instructions changes what some do.
func TestTheCompilerHasTheInstructionsThatAreKnown(t *testing.T) {
	t.Parallel()
	if libquickjs.EREOP_COUNT != 45 {
		t.Errorf("%d instructions: read libregexp-opcode.h of this version, and what decode makes of it", libquickjs.EREOP_COUNT)
	}
}
