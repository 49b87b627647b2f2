package main

import (
	"runtime"
	"sort"
	"time"
)

const (
	timeoutTasks = 64
	timeoutsEach = 2_000
	timerTasks   = 20_000
	longestMs    = 50
	sleeps       = 100
)

// A timer that never fires, around a yield. A context.WithTimeout would be the same timer plus a
// context.
func timeouts() time.Duration {
	return together(timeoutTasks, func(int) {
		for i := 0; i < timeoutsEach; i++ {
			timer := time.NewTimer(30 * time.Second)
			runtime.Gosched()
			timer.Stop()
		}
	})
}

func timers() time.Duration {
	return together(timerTasks, func(number int) {
		time.Sleep(time.Duration(1+number%longestMs) * time.Millisecond)
	})
}

// The median lateness of one goroutine that sleeps 50 µs on an otherwise idle runtime.
func sleepLateness() time.Duration {
	const duration = 50 * time.Microsecond
	lateness := make([]time.Duration, 0, sleeps)
	for i := 0; i < sleeps; i++ {
		start := time.Now()
		time.Sleep(duration)
		lateness = append(lateness, time.Since(start)-duration)
	}
	sort.Slice(lateness, func(i, j int) bool { return lateness[i] < lateness[j] })
	return lateness[sleeps/2]
}
