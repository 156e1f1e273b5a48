package keeper_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
)

// clockEnv names the file by which a test sets the clocks of a keeper.
const clockEnv = "TEST_CLOCK"

// TestMain is a keeper, or a program that counts its signals, if a test has started it as one.
func TestMain(m *testing.M) {
	if act, ok := testkit.CountSignals(os.Args); ok {
		if err := act(); err != nil {
			log.Fatal(err)
		}
		return
	}
	path, ok := keeper.Called(os.Args)
	if !ok {
		os.Exit(m.Run())
	}
	if err := keeper.Main(path, os.Stdin, clock(os.Getenv(clockEnv))); err != nil {
		log.Fatal(err)
	}
}

// shift is how far clocks are from the machine's.
type shift struct {
	Boot, Wall time.Duration
	// Held is the process that finds its shift in Pipe, once it is written; 0 if there is none.
	Held int    `json:",omitempty"`
	Pipe string `json:",omitempty"`
}

// clock is the machine's clock, shifted by what a file says.
func clock(file string) keeper.Clock {
	return func() keeper.Instant {
		by := readShift(file)
		if by.Held == os.Getpid() {
			by = readShift(by.Pipe)
		}
		now := keeper.Now()
		return keeper.Instant{Boot: now.Boot + by.Boot, Wall: now.Wall.Add(by.Wall)}
	}
}

// readShift returns what a file says, nothing if there is none.
func readShift(file string) (by shift) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return shift{}
	}
	if err == nil {
		err = json.Unmarshal(text, &by)
	}
	if err != nil {
		log.Fatal(err)
	}
	return by
}

// world has the folders of programs and their clock.
type world struct {
	root, dir, clockFile string
	clock                keeper.Clock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{root: filepath.Join(t.TempDir(), "keepers"), dir: t.TempDir(), clockFile: filepath.Join(t.TempDir(), "clock")}
	w.clock = clock(w.clockFile)
	return w
}

// jump sets the clocks.
func (w *world) jump(t *testing.T, by shift) {
	t.Helper()
	text, err := json.Marshal(by)
	if err == nil {
		err = os.WriteFile(w.clockFile+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(w.clockFile+".new", w.clockFile)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// holdClock makes the clock of a process answer when it is told to, and returns when the process waits for that. answer
// tells it, and returns when the process has acted on the answer and waits for the next; release ends it.
func (w *world) holdClock(t *testing.T, id int) (answer func(by shift), release func()) {
	t.Helper()
	dir := t.TempDir()
	pipe := func(i int) string { return filepath.Join(dir, strconv.Itoa(i)) }
	var waiting *os.File
	looks := 0
	hold := func() {
		t.Helper()
		if err := syscall.Mkfifo(pipe(looks), 0o600); err != nil {
			t.Fatal(err)
		}
		w.jump(t, shift{Held: id, Pipe: pipe(looks)})
	}
	await := func() {
		t.Helper()
		if !testkit.Eventually(t, "it looks at the clock", func() bool {
			var err error
			waiting, err = os.OpenFile(pipe(looks), os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails while nobody reads it
			return err == nil
		}) {
			t.FailNow()
		}
	}
	tell := func(to *os.File, by shift) {
		t.Helper()
		if err := errors.Join(json.NewEncoder(to).Encode(by), to.Close()); err != nil {
			t.Fatal(err)
		}
	}
	hold()
	await()
	answer = func(by shift) {
		t.Helper()
		looks++
		hold()
		tell(waiting, by)
		await()
	}
	return answer, func() {
		t.Helper()
		w.jump(t, shift{})
		tell(waiting, shift{})
	}
}

func (w *world) lease(length time.Duration) keeper.Lease {
	return keeper.Lease{ID: "lease_test", End: w.clock().Add(length), Length: length}
}

// start starts a program that writes to the pipe ALIVE; gone is closed when nothing has that open any more.
func (w *world) start(t *testing.T, command string, lease keeper.Lease, grace time.Duration) (k *keeper.Handle, gone <-chan struct{}) {
	t.Helper()
	pipe, gone := testkit.Lifeline(t)
	k = w.startProgram(t, lease, keeper.Program{Command: `exec 4>"$ALIVE"; ` + command, Grace: grace}, "ALIVE="+pipe)
	return k, gone
}

// startProgram starts a program in the folder of the world.
func (w *world) startProgram(t *testing.T, lease keeper.Lease, p keeper.Program, env ...string) *keeper.Handle {
	t.Helper()
	p.Dir, p.Input = w.dir, []byte("the input\n")
	k, err := keeper.Start(w.root, "program", lease, p, append(os.Environ(), append(env, clockEnv+"="+w.clockFile)...), "what it is about")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, k) })
	return k
}

// stop stops a program at the end of the test, and waits until its keeper writes nothing any more.
func stop(t *testing.T, k *keeper.Handle) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	if err := k.Stop(keeper.Shutdown, keeper.Instant{}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := k.Wait(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// end waits for the end of a program.
func end(t *testing.T, k *keeper.Handle) keeper.End {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	end, err := k.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// lines reads so many lines of a program's standard output from an offset on, or all of them where n is negative.
func lines(t *testing.T, k *keeper.Handle, from int64, n int) (said []string, offset int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	out := k.Output(from)
	defer out.Close()
	for len(said) != n {
		r, err := out.Next(ctx)
		if n < 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("after %d lines: %v", len(said), err)
		}
		if from = r.End; !r.Stderr {
			said = append(said, r.Line)
		}
	}
	return said, from
}

func TestProgramRunsInItsFolderAndItsEndIsKept(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]keeper.End{
		`cat; pwd; exit 0`:               {},
		`cat; pwd; echo why >&2; exit 7`: {ExitCode: 7, Stderr: "why"},
		`cat; pwd; kill -9 $$`:           {ExitCode: -1, Signal: syscall.SIGKILL},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			k, gone := w.start(t, command, w.lease(time.Hour), 0)
			testkit.MustEnd(t, gone)
			if got := end(t, k); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			if said, _ := lines(t, k, 0, -1); !slices.Equal(said, []string{"the input", w.dir}) {
				t.Errorf("%q", said)
			}
			private(t, w.root)
			if err := k.Remove(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(w.root); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left", err, left)
			}
		})
	}
}

func TestBothStreamsAreKeptLineByLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, gone := w.start(t, `echo one; echo; printf 'a \000 b \377 c\r\n'; echo why >&2; echo >&2; `+
		`head -c 131073 /dev/zero | tr '\0' 'y' | sed 's/y$/ä/'; echo; head -c 131072 /dev/zero | tr '\0' 'z'`, w.lease(time.Hour), 0)
	testkit.MustEnd(t, gone)
	got := map[bool][]keeper.Record{}
	out := k.Output(0)
	defer out.Close()
	for {
		r, err := out.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[r.Stderr] = append(got[r.Stderr], keeper.Record{Line: r.Line, Cut: r.Cut})
	}
	ys, zs := strings.Repeat("y", 131072), strings.Repeat("z", 131072)
	want := map[bool][]keeper.Record{
		false: {{Line: "one"}, {}, {Line: "a \uFFFD b \uFFFD c"}, {Line: ys, Cut: 2}, {Line: zs}},
		true:  {{Line: "why"}, {}},
	}
	if !reflect.DeepEqual(got, want) {
		for _, r := range got[false] {
			t.Logf("%.30q… of %d bytes, cut %d", r.Line, len(r.Line), r.Cut)
		}
		t.Errorf("standard error: %+v", got[true])
	}
}

// private wants nobody else to read what is in a folder.
func private(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestClockThatJumpsEndsNoProgramLate(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]shift{
		"the wall clock goes forward":               {Wall: 2 * time.Hour},
		"the wall clock goes back as time goes on":  {Wall: -100 * time.Hour, Boot: 2 * time.Hour},
		"the machine sleeps":                        {Wall: 2 * time.Hour, Boot: 2 * time.Hour},
		"the lease has a third less than the grace": {Wall: 41 * time.Minute, Boot: 41 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			k, gone := w.start(t, `echo started; sleep 600 & wait`, w.lease(time.Hour), time.Hour)
			lines(t, k, 0, 1)
			w.jump(t, by)
			testkit.MustEnd(t, gone)
			if got := end(t, k); got.Stopped != keeper.LeaseExpiring {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestRenewedLeaseLetsTheProgramGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, gone := w.start(t, `trap 'echo told; exit 3' TERM; echo started; while [ ! -e proceed ]; do sleep 0.05; done; echo finished`, w.lease(time.Hour), time.Second)
	_, from := lines(t, k, 0, 1)
	if err := k.Renew(w.lease(10 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := k.Renew(w.lease(time.Minute)); err != nil { // the answer to a request of before
		t.Fatal(err)
	}
	w.jump(t, shift{Wall: 2 * time.Hour, Boot: 2 * time.Hour})
	if err := os.WriteFile(filepath.Join(w.dir, "proceed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.MustEnd(t, gone)
	if said, _ := lines(t, k, from, -1); !slices.Equal(said, []string{"finished"}) {
		t.Errorf("%q", said)
	}
	if got := end(t, k); got != (keeper.End{}) {
		t.Errorf("%+v", got)
	}
}

// A program that prints without an end has its lease renewed as often as reports are answered.
func TestRunnerThatNeverPausesStopsTheProgramAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, gone := w.start(t, `trap '' TERM; echo started; while :; do sleep 600; done`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	var renewals sync.WaitGroup
	defer renewals.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	renewals.Go(func() {
		for ctx.Err() == nil {
			if err := k.Renew(w.lease(time.Hour)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	if err := k.Stop(keeper.Canceled, w.clock().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	testkit.MustEnd(t, gone)
	if got := end(t, k); got.Signal != syscall.SIGKILL || got.Stopped != keeper.Canceled {
		t.Errorf("%+v", got)
	}
}

func TestProgramThatTakesNoSIGTERMIsKilledInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, gone := w.start(t, `trap '' TERM; echo started; while :; do sleep 600; done`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	if err := k.Stop(keeper.Canceled, w.clock().Add(30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	w.jump(t, shift{Wall: time.Minute, Boot: time.Minute})
	if err := k.Stop(keeper.Shutdown, w.clock().Add(20*time.Minute)); err != nil { // sooner
		t.Fatal(err)
	}
	select {
	case <-gone:
		t.Fatal("it was killed before its time")
	default:
	}
	w.jump(t, shift{Wall: 22 * time.Minute, Boot: 22 * time.Minute})
	testkit.MustEnd(t, gone)
	if got := end(t, k); got.Signal != syscall.SIGKILL || got.Stopped != keeper.Canceled {
		t.Errorf("%+v", got)
	}
}

func TestOutputThatNobodyTakesIsBoundedAndNothingOfItIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 200_000
	k, gone := w.start(t, fmt.Sprintf(`seq %d`, n), w.lease(time.Hour), 0)
	var said []string
	var offset int64
	for len(said) < n {
		var some []string
		some, offset = lines(t, k, offset, 2_000)
		said = append(said, some...)
		if size := sizeOf(t, w.root); size > 2<<20 {
			t.Fatalf("%d bytes are kept", size)
		}
		if err := k.Discard(offset); err != nil {
			t.Fatal(err)
		}
	}
	testkit.MustEnd(t, gone)
	for i, line := range said {
		if line != fmt.Sprint(i+1) {
			t.Fatalf("line %d is %q", i+1, line)
		}
	}
}

func TestProgramThatIsStoppedIsNotHeldUpByItsOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, gone := w.start(t, `trap 'seq 100000; echo last >&2; exit 5' TERM; echo started; seq 1000000`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	if err := k.Stop(keeper.Canceled, w.clock().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	testkit.MustEnd(t, gone)
	if got := end(t, k); got.ExitCode != 5 || !strings.HasSuffix(got.Stderr, "last") || got.Lost == 0 {
		t.Errorf("%+v", got)
	}
	if size := sizeOf(t, w.root); size > 8<<20 {
		t.Errorf("%d bytes are kept", size)
	}
}

// sizeOf is how many bytes the files in a folder have.
func sizeOf(t *testing.T, root string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return size
}

func TestNothingIsWrittenIntoAFolderThatIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		k, _ := w.start(t, "exit 0", w.lease(time.Hour), time.Minute)
		end(t, k)
		var renewals sync.WaitGroup
		for n := range 4 {
			renewals.Go(func() {
				for m := range 100 {
					l := w.lease(time.Hour + time.Duration(i+n+m)*time.Second)
					_ = k.Renew(l) // fails or not, it leaves nothing
				}
			})
		}
		if err := k.Remove(); err != nil {
			t.Error(err)
		}
		renewals.Wait()
		if left, _ := os.ReadDir(w.root); len(left) > 0 {
			t.Fatalf("left: %v", left)
		}
	}
}

func TestNothingIsLeftOfWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unstorable := make(chan int)
	if _, err := keeper.Start(w.root, "program", w.lease(time.Hour), keeper.Program{Command: "true", Dir: w.dir}, os.Environ(), unstorable); err == nil {
		t.Error("it was started")
	}
	if left, err := os.ReadDir(w.root); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", err, left)
	}
}
