package main

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"
)

const idleTasks = 1_000_000

// The number of bytes by which the process grows when goroutines wait on one channel until it ends.
// The number is returned as a duration: the answer is a number without a unit.
func idleMemory() time.Duration {
	before := resident()
	bell, c := make(chan struct{}), newCountdown(idleTasks)
	for i := 0; i < idleTasks; i++ {
		go func() {
			c.decrement()
			<-bell
		}()
	}
	<-c.last
	return time.Duration(resident() - before)
}

// The number of bytes of memory that this process occupies.
func resident() int64 {
	file, err := os.Open("/proc/self/smaps_rollup")
	must(err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); fields[0] == "Rss:" {
			number, err := strconv.ParseInt(fields[1], 10, 64)
			must(err)
			return number * 1024
		}
	}
	must(errors.New("smaps_rollup doesn't say how much is resident"))
	return 0
}
