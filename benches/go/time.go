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

// A timer that never fires round a yield. A context.WithTimeout would be the same timer and a context besides.
func timeouts() time.Duration {
	c := newCountdown(timeoutTasks)
	start := time.Now()
	for i := 0; i < timeoutTasks; i++ {
		go func() {
			for i := 0; i < timeoutsEach; i++ {
				timer := time.NewTimer(30 * time.Second)
				runtime.Gosched()
				timer.Stop()
			}
			c.decrement()
		}()
	}
	<-c.last
	return time.Since(start)
}

func timers() time.Duration {
	c := newCountdown(timerTasks)
	start := time.Now()
	for i := 0; i < timerTasks; i++ {
		duration := time.Duration(1+i%longestMs) * time.Millisecond
		go func() {
			time.Sleep(duration)
			c.decrement()
		}()
	}
	<-c.last
	return time.Since(start)
}

// The median lateness of one goroutine that sleeps 50 µs while nothing else happens.
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
