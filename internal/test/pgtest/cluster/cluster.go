//go:build unix

package cluster

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	// The driver "postgres", to ask whether the server answers.
	_ "github.com/lib/pq"
)

// The folders of clusters. Not TMPDIR: any user can reach these, and the path of a socket must be short.
const disk, memory = "/tmp", "/dev/shm"

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
	// Dir is the folder of the cluster, which is removed with it; the data are in data below it.
	Dir string

	bin, data string
	settings  []string
	port      int
	owner     *syscall.Credential
	server    *exec.Cmd
	exited    chan struct{}
}

// Start makes a cluster with the programs in bin and waits until it answers. Its settings are for speed and not for
// durability; the given settings, such as fsync=on, override them. The caller stops it.
func Start(bin string, settings ...string) (*Cluster, error) {
	return start(bin, disk, settings, initdb)
}

// StartInMemory makes a cluster as Start does, with its data in memory if there is room: a disk's file system takes
// longer to make the files of a database than the server does.
func StartInMemory(bin string, settings ...string) (*Cluster, error) {
	if free(memory) < memoryRoom {
		return Start(bin, settings...)
	}
	return start(bin, memory, append([]string{"max_wal_size=128MB"}, settings...), initdb)
}

// memoryRoom is how many bytes must be free: the tests take half a GB at their peak.
const memoryRoom = 2 << 30

// initdb returns the command that makes the data of an empty cluster.
func initdb(c *Cluster) *exec.Cmd {
	return c.Command("initdb", "--pgdata="+c.data, "--username="+superuser, "--auth=trust", "--encoding=UTF8",
		"--locale=C", "--no-sync")
}

// start makes a cluster in a folder of root, with the data that a command makes.
func start(bin, root string, settings []string, data func(*Cluster) *exec.Cmd) (*Cluster, error) {
	dir, err := os.MkdirTemp(root, "slipway-pg-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the cluster: %w", err)
	}
	c, err := newCluster(bin, dir, settings)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := c.boot(data); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// newCluster returns a cluster that does not run yet.
func newCluster(bin, dir string, settings []string) (*Cluster, error) {
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	return &Cluster{Dir: dir, bin: bin, data: filepath.Join(dir, "data"), settings: settings, owner: owner}, nil
}

func (c *Cluster) boot(data func(*Cluster) *exec.Cmd) error {
	if c.owner != nil {
		if err := os.Chown(c.Dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
			return fmt.Errorf("give the cluster's directory to its user: %w", err)
		}
	}
	make := data(c)
	if output, err := make.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(make.Path), err, output)
	}
	return c.move()
}

// Resume starts the server again after it has ended, with a folder of data below Dir and on another port.
func (c *Cluster) Resume(data string, settings ...string) error {
	c.data, c.settings = filepath.Join(c.Dir, data), settings
	return c.move()
}

// move starts the server on a free port.
func (c *Cluster) move() (err error) {
	if c.port, err = freePort(); err != nil {
		return err
	}
	c.URL = fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", superuser, c.port)
	return c.serve()
}

// quick has the settings of a server whose data may be lost.
var quick = []string{
	"max_connections=300", "fsync=off", "synchronous_commit=off", "full_page_writes=off",
	"wal_retrieve_retry_interval=100ms",
	"dynamic_shared_memory_type=mmap", // in the folder: elsewhere a server that is killed leaves it behind
}

// serve starts the server and waits until it answers.
func (c *Cluster) serve() error {
	args := []string{"-D", c.data, "-k", c.Dir, "-h", "127.0.0.1", "-p", fmt.Sprint(c.port)}
	for _, setting := range slices.Concat(quick, c.settings) {
		args = append(args, "-c", setting)
	}

	server := c.Command("postgres", args...)
	log, err := os.Create(filepath.Join(c.Dir, "server.log"))
	if err != nil {
		return fmt.Errorf("make the server's log: %w", err)
	}
	defer log.Close()

	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}

	exited := make(chan struct{})
	c.server, c.exited = server, exited
	go func() {
		// How the server ended is in its log.
		_ = server.Wait()
		close(exited)
	}()

	if err := c.await("SELECT true"); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("start the server: %w\n%s", err, said)
	}
	return nil
}

// await waits until the server answers a question with true.
func (c *Cluster) await(question string) error {
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
		var yes bool
		refused := db.QueryRowContext(ctx, question).Scan(&yes)
		if refused == nil && yes {
			return nil
		}
		select {
		case <-c.exited:
			return errors.New("it ended by itself")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer %q within %s: %w", question, startTimeout, cmp.Or(refused, ctx.Err()))
		case <-tick.C:
		}
	}
}

// Stop ends the server and removes it with its data.
func (c *Cluster) Stop() error {
	if c.server != nil {
		c.end(syscall.SIGQUIT)
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return fmt.Errorf("remove the cluster: %w", err)
	}
	return nil
}

// Kill ends the server by SIGKILL.
func (c *Cluster) Kill() error {
	err := c.server.Process.Kill()
	<-c.exited
	return err
}

// end sends the server a signal that ends it, and waits until it has ended.
func (c *Cluster) end(signal syscall.Signal) {
	// What fails here is only that the server has ended already.
	_ = c.server.Process.Signal(signal)
	select {
	case <-c.exited:
	case <-time.After(stopTimeout):
		_ = c.server.Process.Kill()
		<-c.exited
	}
}

// Command returns a command that runs one of the server's programs, or any other, as the server's user in Dir. It has a
// process group of its own: ^C at the terminal must not end the server before the programs that use it.
func (c *Cluster) Command(program string, args ...string) *exec.Cmd {
	if own := filepath.Join(c.bin, program); isProgram(own) {
		program = own
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.owner}
	return cmd
}

func isProgram(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
