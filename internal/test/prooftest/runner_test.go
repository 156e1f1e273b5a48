package prooftest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"slipway/internal/pure/module"
	"slipway/internal/remote/runner"
	"slipway/internal/remote/runner/keeper"
)

// The roles in which this test is started again, and the variable with the order of a runner.
const (
	runnerRole, programRole = "proof-runner", "proof-program"
	orderEnv                = "PROOF_ORDER"
)

// roles returns what a process does that is no test.
func roles(args []string) (act func() error, ok bool) {
	if folder, ok := keeper.Called(args); ok {
		return func() error {
			order, err := readOrder()
			if err != nil {
				return err
			}
			return keeper.Main(folder, os.Stdin, order.clock())
		}, true
	}
	switch {
	case len(args) == 2 && args[1] == runnerRole:
		return runRunner, true
	case len(args) == 2 && args[1] == programRole:
		return runProgram, true
	}
	return nil, false
}

// runnerOrder is what a runner's process is to do.
type runnerOrder struct {
	Server, Token, WorkDir string
	// ClockFile has how far the wall clock is from the machine's.
	ClockFile string
	Parallel  int
	Program   programOrder
}

// programOrder is what its programs are to do.
type programOrder struct {
	Folder string
	Linger time.Duration
}

func readOrder() (order runnerOrder, err error) {
	err = json.Unmarshal([]byte(os.Getenv(orderEnv)), &order)
	return order, err
}

// clock is the machine's, with the wall clock set as the file says.
func (o runnerOrder) clock() keeper.Clock {
	return func() keeper.Instant {
		now := keeper.Now()
		if text, err := os.ReadFile(o.ClockFile); err == nil {
			if by, err := time.ParseDuration(string(text)); err == nil {
				now.Wall = now.Wall.Add(by)
			}
		}
		return now
	}
}

// runRunner is a runner's process.
func runRunner() error {
	order, err := readOrder()
	if err != nil {
		return err
	}
	ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer end()
	return runner.Run(ctx, runner.Config{
		Server: order.Server, Token: order.Token, Kinds: module.DeploymentTypes, Command: fmt.Sprintf("exec %q %s", os.Args[0], programRole),
		Environ: os.Environ(), WorkDir: order.WorkDir, Poll: 20 * time.Millisecond, ShutdownTimeout: time.Minute,
		StopGrace: time.Minute, Parallel: order.Parallel, Clock: order.clock(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// runnerProcess is a runner that runs as a process of its own.
type runnerProcess struct {
	order runnerOrder
	cmd   *exec.Cmd
	ended sync.Once
}

func startRunner(t *testing.T, order runnerOrder) *runnerProcess {
	text, err := json.Marshal(order)
	if err != nil {
		t.Error(err)
	}
	if err := os.MkdirAll(order.WorkDir, 0o700); err != nil {
		t.Error(err)
	}
	log, err := os.Create(order.WorkDir + ".log")
	if err != nil {
		t.Error(err)
	}
	defer func() { _ = log.Close() }()
	r := &runnerProcess{order: order, cmd: exec.Command(os.Args[0], runnerRole)}
	r.cmd.Env, r.cmd.Stderr = append(os.Environ(), orderEnv+"="+string(text)), log
	if err := r.cmd.Start(); err != nil {
		t.Error(err)
		return r
	}
	t.Cleanup(func() {
		r.end()
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(log.Name()), said)
		}
	})
	return r
}

func (r *runnerProcess) signal(s syscall.Signal) error { return r.cmd.Process.Signal(s) }

// end kills the process.
func (r *runnerProcess) end() {
	r.ended.Do(func() {
		_ = r.signal(syscall.SIGKILL)
		_ = r.cmd.Wait()
	})
}

const overlapsFile = "overlaps"

// runProgram is the program of a deployment. It holds a lock of its instance, and notes for how long another
// program held that when it began.
func runProgram() error {
	order, err := readOrder()
	if err != nil {
		return err
	}
	folder, id := order.Program.Folder, os.Getenv("SLIPWAY_DEPLOYMENT_ID")
	lock, err := os.Create(filepath.Join(folder, "lock-"+os.Getenv("SLIPWAY_INSTANCE_ID")))
	if err != nil {
		return err
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	began := time.Now()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
			return err
		}
		if err := note(folder, overlapsFile, time.Since(began).String()); err != nil {
			return err
		}
	}
	if err := startChild(lock, filepath.Join(folder, "finish-"+id)); err != nil {
		return err
	}
	if err := note(folder, "began-"+id, ""); err != nil {
		return err
	}
	said := time.Tick(500 * time.Millisecond)
	for {
		select {
		case <-said:
			fmt.Println("at work") //nolint:forbidigo // it is a program
		case <-told:
			if err := note(folder, "stopped", id); err != nil {
				return err
			}
			if order.Program.Linger >= 0 {
				<-time.After(order.Program.Linger)
				os.Exit(3)
			}
		case <-time.After(10 * time.Millisecond):
			if _, err := os.Stat(filepath.Join(folder, "finish-"+id)); err == nil {
				return nil
			}
		}
	}
}

// startChild starts a child of the program, which holds the lock as well, takes no SIGTERM and ends when there is a file.
func startChild(lock *os.File, finish string) error {
	child := exec.Command("sh", "-c", `trap '' TERM; until [ -e "$0" ]; do sleep 0.2; done`, finish)
	child.ExtraFiles = []*os.File{lock}
	return child.Start()
}

// note adds a line to a file.
func note(folder, name, line string) error {
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, line+"\n")
	_ = file.Close()
	return err
}

// gate is a way to a server that can be cut, or led to another server.
type gate struct {
	url    string
	target atomic.Pointer[url.URL]
	// failed counts the requests that were not answered, answered those that were answered with 200.
	failed, answered atomic.Int32
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	g := &gate{}
	g.lead(t, target)
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			to := g.target.Load()
			if to == nil {
				g.failed.Add(1)
				panic(http.ErrAbortHandler)
			}
			r.SetURL(to)
		},
		ModifyResponse: func(a *http.Response) error {
			if a.StatusCode == http.StatusOK {
				g.answered.Add(1)
			} else {
				g.failed.Add(1)
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			g.failed.Add(1)
			panic(http.ErrAbortHandler)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
	})
	t.Cleanup(s.Close)
	g.url = s.URL
	return g
}

func (g *gate) lead(t *testing.T, target string) {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	g.target.Store(to)
}

// cut lets no request through any more.
func (g *gate) cut() { g.target.Store(nil) }
