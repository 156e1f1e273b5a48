//go:build unix

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	// The driver "postgres", to ask whether the server answers.
	_ "github.com/lib/pq"
)

const (
	superuser    = "postgres"
	startTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
	pollInterval = 20 * time.Millisecond
)

// Cluster is a running server with its data.
type Cluster struct {
	// URL is of the server's own database, as its superuser.
	URL string

	dir    string
	owner  *syscall.Credential
	server *exec.Cmd
	exited chan struct{}
}

// Start makes a cluster out of the programs in bin and waits until it answers. It gives up durability
// for speed. The caller stops it.
func Start(bin string) (*Cluster, error) {
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	// Not TMPDIR: any user can reach /tmp, and the path of a socket must be short.
	dir, err := os.MkdirTemp("/tmp", "slipway-pg-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the cluster: %w", err)
	}
	c := &Cluster{dir: dir, owner: owner, exited: make(chan struct{})}
	if err := c.boot(bin); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) boot(bin string) error {
	if c.owner != nil {
		if err := os.Chown(c.dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
			return fmt.Errorf("give the cluster's directory to its user: %w", err)
		}
	}
	data := filepath.Join(c.dir, "data")
	initdb := c.command(filepath.Join(bin, "initdb"), "--pgdata="+data, "--username="+superuser,
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return c.listen(bin, data)
}

// listen serves the data on a free port.
func (c *Cluster) listen(bin, data string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	c.URL = fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", superuser, port)
	return c.serve(c.command(filepath.Join(bin, "postgres"), "-D", data, "-k", c.dir, "-h", "127.0.0.1",
		"-p", fmt.Sprint(port), "-c", "max_connections=300", "-c", "fsync=off",
		"-c", "synchronous_commit=off", "-c", "full_page_writes=off"))
}

// serve starts the server and waits until it answers.
func (c *Cluster) serve(server *exec.Cmd) error {
	log, err := os.Create(filepath.Join(c.dir, "server.log"))
	if err != nil {
		return fmt.Errorf("make the server's log: %w", err)
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	c.server = server
	go func() {
		// How the server ended is in its log.
		_ = server.Wait()
		close(c.exited)
	}()
	if err := c.await(); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("start the server: %w\n%s", err, said)
	}
	return nil
}

func (c *Cluster) await() error {
	db, err := sql.Open("postgres", c.URL)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		refused := db.PingContext(ctx)
		if refused == nil {
			return nil
		}
		select {
		case <-c.exited:
			return errors.New("it ended by itself")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer within %s: %w", startTimeout, refused)
		case <-tick.C:
		}
	}
}

// Stop ends the server, without care for its data, and removes it.
func (c *Cluster) Stop() error {
	if c.server != nil {
		// What fails here is only that the server has ended already.
		_ = c.server.Process.Signal(syscall.SIGQUIT)
		select {
		case <-c.exited:
		case <-time.After(stopTimeout):
			_ = c.server.Process.Kill()
			<-c.exited
		}
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("remove the cluster: %w", err)
	}
	return nil
}

// command is one of the server's programs, run as its user. It has a process group of its own: ^C at
// the terminal must not end the server before those who use it.
func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.owner}
	return cmd
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
