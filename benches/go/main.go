// The programs of the benches in Go: the workloads of gmp-benches, the rows of `promise` (the argument
// lateness) and the server of `http_mix` (the argument serve).
//
// Without an argument, one process measures all workloads, so that no figure contains its start or
// the growth of its heap. Another program drives it over standard input, one repetition per line: the other columns have
// their turns between two lines. First this program prints
//
//	ready VERSION NAME...
//
// and then, for every line "NAME ROUNDS", how many nanoseconds (or bytes) these rounds took and how
// many operations they had: "TOTAL OPERATIONS". The other program compares the operations with its
// own: the sizes are written in both languages and must not drift apart. A line "error TEXT" is an
// answer, too. The program ends when standard input does.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

// A workload runs a round and returns how long its operations took, without its preparation.
type workload struct {
	operations int
	round      func() time.Duration
}

var workloads = map[string]workload{
	"spawn_local":      {spawnTasks, spawnLocal},
	"spawn_join":       {spawnTasks, spawnJoin},
	"yield_many":       {yieldTasks * yieldsEach, yieldMany},
	"ping_pong":        {pingTasks, pingPong},
	"chained_spawn":    {chainDepth, chainedSpawn},
	"mpsc_128":         {messages, func() time.Duration { return mpsc(128) }},
	"mpsc_1":           {messages, func() time.Duration { return mpsc(1) }},
	"ring_500":         {ringHops, ring},
	"timeouts":         {timeoutTasks * timeoutsEach, timeouts},
	"timers_20k":       {timerTasks, timers},
	"sleep_50us":       {1, sleepLateness},
	"echo_1":           {exchanges, func() time.Duration { return echo(1, tcpPair) }},
	"echo_64":          {exchanges, func() time.Duration { return echo(64, tcpPair) }},
	"echo_1000":        {crowdClients * crowdExchanges, crowd},
	"udp_echo_1":       {exchanges, func() time.Duration { return echo(1, udpPair) }},
	"udp_echo_64":      {exchanges, func() time.Duration { return echo(64, udpPair) }},
	"unix_echo_1":      {exchanges, func() time.Duration { return echo(1, unixPair) }},
	"unix_echo_64":     {exchanges, func() time.Duration { return echo(64, unixPair) }},
	"fs_read_1":        {reads, func() time.Duration { return readFile(1) }},
	"fs_read_64":       {reads, func() time.Duration { return readFile(64) }},
	"memory_idle_task": {idleTasks, idleMemory},
}

func main() {
	switch {
	case len(os.Args) == 1:
		takeTurns()
	case os.Args[1] == "lateness":
		lateness(os.Args[2:])
	case os.Args[1] == "serve":
		serve()
	default:
		must(fmt.Errorf("unknown argument %q; allowed are lateness and serve", os.Args[1]))
	}
}

func takeTurns() {
	fmt.Println("ready", runtime.Version(), strings.Join(names(), " "))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(answer(lines.Text()))
	}
}

func names() []string {
	names := make([]string, 0, len(workloads))
	for name := range workloads {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func answer(line string) string {
	name, rest, _ := strings.Cut(line, " ")
	work, known := workloads[name]
	rounds, err := strconv.Atoi(rest)
	if !known || err != nil || rounds < 1 {
		return fmt.Sprintf("error can't run `%s`: it must be the name of a workload and a number of rounds", line)
	}
	var total time.Duration
	for i := 0; i < rounds; i++ {
		total += work.round()
	}
	return fmt.Sprint(total.Nanoseconds(), " ", work.operations*rounds)
}

// No workload fails on a healthy machine, and the figure of a failed workload would be worthless.
func must(err error) {
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}
