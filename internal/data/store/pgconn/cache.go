package pgconn

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/lib/pq"
)

// DefaultCapacity is how many statements a connection keeps if the URL does not say.
const DefaultCapacity = 256

// capacityParameter is the parameter of a URL, under the name that other clients of PostgreSQL give it.
const capacityParameter = "statement_cache_capacity"

// Cache is how many statements a connection keeps prepared.
type Cache struct {
	// Capacity is the number, 0 for none.
	Capacity int
	// Detect has connections keep none that go through a pooler. A pooler of transactions runs what comes next in
	// another session, where the names of statements mean nothing, or something else.
	Detect bool
	// OnPooler is called with each connection that goes through a pooler.
	OnPooler func()
	// OnLookup, if it is not nil, is called for each statement that may be prepared, with whether it was. It is called
	// by many goroutines at once.
	OnLookup func(isPrepared bool)
}

// TakeCache returns what a configuration says about the cache, and takes it out: the server does not know it.
func TakeCache(c *pq.Config) (Cache, error) {
	text, ok := c.Runtime[capacityParameter]
	if !ok {
		return Cache{Capacity: DefaultCapacity, Detect: true}, nil
	}
	delete(c.Runtime, capacityParameter)
	const most = 10_000
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return Cache{}, fmt.Errorf("%s: want a number from 0 to %d, found %q", capacityParameter, most, text)
	}
	return Cache{Capacity: n}, nil
}

// isDirect reports whether the process that runs the statements is the one that the server named when the connection
// was made, for canceling. A pooler makes one up, or names none. A proxy that passes bytes on is no pooler.
func (c *Conn) isDirect(process int64) bool {
	// lib/pq keeps the number to itself. Should its field get another name, no statement is prepared.
	named := reflect.Indirect(reflect.ValueOf(c.conn)).FieldByName("pid")
	return named.IsValid() && named.CanInt() && named.Int() == process
}
