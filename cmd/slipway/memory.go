package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"slipway/internal/base/setting"
)

// heapGrowth is by how much the heap may grow before it is collected, in percent of what is in use: requests are short
// and leave little behind, so most collections find nothing to keep.
const heapGrowth = 200

// limitMemory sets how much memory the program may hold besides what it uses. While it uses little, the heap may grow
// by heapGrowth. Requests that read large records use much for a moment; then garbage may not take the program past its
// memory limit, which is never less than one and a half times what is in use, so that the collector is never all it
// does.
//
// It changes nothing if GOGC or GOMEMLIMIT is set.
func limitMemory(env setting.Environment) {
	_, percent := env("GOGC")
	_, bytes := env("GOMEMLIMIT")
	if percent || bytes {
		return
	}
	debug.SetGCPercent(heapGrowth)
	afterEachCollection(func() { debug.SetMemoryLimit(memoryLimit(memoryInUse(), runtime.GOMAXPROCS(0))) })
}

// memoryLimit returns the memory limit, in bytes, of a program with inUse bytes in use. It grows with the processors,
// because each of them works on a few requests at once.
func memoryLimit(inUse uint64, processors int) int64 {
	const base, each = 32 << 20, 40 << 20
	return max(base+each*int64(processors), int64(inUse+inUse/2))
}

// memoryInUse returns how many bytes the last collection found in use, with the stacks and what Go itself needs.
func memoryInUse() (sum uint64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/metadata/mcache/inuse:bytes"},
		{Name: "/memory/classes/metadata/mspan/inuse:bytes"},
		{Name: "/memory/classes/metadata/other:bytes"},
		{Name: "/memory/classes/os-stacks:bytes"},
		{Name: "/memory/classes/other:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

// afterEachCollection calls do now and soon after each collection of garbage, as long as the program runs.
func afterEachCollection(do func()) {
	do()
	garbage := new([64]byte) // the next collection finds it
	runtime.AddCleanup(garbage, afterEachCollection, do)
}
