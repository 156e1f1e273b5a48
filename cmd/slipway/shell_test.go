package main_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/test/testkit"
)

// usual is where documents say that the API is served, and usualAdmin where health and metrics are.
const usual, usualAdmin = "127.0.0.1:8080", "127.0.0.1:9090"

// wrapper is the command slipway of a newcomer's shell: the test's own program, which serves at an address that is free.
const wrapper = `case $1 in
init) export SLIPWAY_SERVER="http://$ADDRESS" ;;
serve) export SLIPWAY_LISTEN="$ADDRESS" SLIPWAY_ADMIN_LISTEN="$ADMIN" ;;
esac
exec "$PROGRAM" "$@"`

// background is the end of a command line that goes on beside the others.
var background = regexp.MustCompile(`(?m) &$`)

// patienceOfShell is how long a script may run, with the machine shared by all other tests.
const patienceOfShell = 2 * time.Minute

// shell runs a script in the home, with slipway on the PATH and nothing of the settings of whoever tests, and returns what it
// prints on both outputs. Addresses are those of the documents. What it leaves running is stopped.
func (n *newcomer) shell(script string, env ...string) string {
	n.t.Helper()
	self, err := os.Executable()
	if err != nil {
		n.t.Fatal(err)
	}
	bin := n.t.TempDir()
	testkit.Script(n.t, filepath.Join(bin, "slipway"), wrapper)
	address, admin := freeAddress(n.t), freeAddress(n.t)
	host, _, _ := net.SplitHostPort(address)
	script = strings.NewReplacer(usual, address, usualAdmin, admin, "IP:127.0.0.1", "IP:"+host).Replace(script)
	ctx, cancel := context.WithTimeout(n.t.Context(), patienceOfShell)
	defer cancel()
	// The last first: a runner looks for its server for a while.
	const stop = "started=; trap 'for pid in $started; do kill $pid; wait $pid; done' EXIT\n"
	c := exec.CommandContext(ctx, "sh", "-c", stop+background.ReplaceAllString(script, "$0\nstarted=\"$$! $$started\""))
	c.Dir = n.home
	c.Env = append([]string{
		"HOME=" + n.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"PROGRAM=" + self, "ADDRESS=" + address, "ADMIN=" + admin, asChild + "=" + isNewcomers,
	}, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.WaitDelay = patience
	if err := c.Run(); err != nil && ctx.Err() != nil {
		n.t.Fatalf("%v: %s", err, &out)
	}
	// init says where to serve if that is not where everybody does.
	return strings.NewReplacer(" --listen "+address, "", address, usual, n.home, "…").Replace(out.String())
}

// freeAddress returns an address at which a server can listen. If the system has all of 127.0.0.0/8, it is one that nobody else
// is given meanwhile.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
