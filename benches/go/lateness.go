package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// The rows of `promise` that measure how late a goroutine is beside others that hold their threads:
// what one repetition needs, and the lateness of every tick in microseconds, a line each.
func lateness(arguments []string) {
	flags := flag.NewFlagSet("lateness", flag.ExitOnError)
	victim := flags.String("victim", "ticker", "`ticker` or outside_spawn")
	count := flags.Int("count", 8, "goroutines that hold their threads, or of each burst")
	every := flags.Duration("every", 0, "the time between two bursts of new goroutines; 0: the same goroutines again and again")
	way := flags.String("way", "sleep", "`sleep`, compute_until or compute_for")
	length := flags.Duration("length", 50*time.Millisecond, "how long each holds its thread")
	duration := flags.Duration("duration", 2*time.Second, "how long is measured")
	must(flags.Parse(arguments))
	hold, known := ways[*way]
	if !known {
		must(fmt.Errorf("there is no way %q to hold a thread", *way))
	}

	calibrate()
	var stop atomic.Bool
	if *every == 0 {
		for i := 0; i < *count; i++ {
			go func() {
				for !stop.Load() {
					hold(*length)
				}
			}()
		}
	} else {
		go bursts(*count, *every, func() { hold(*length) }, &stop)
	}
	late := victims[*victim](*duration)
	stop.Store(true)
	output := bufio.NewWriter(os.Stdout)
	for _, each := range late {
		fmt.Fprintln(output, each.Microseconds())
	}
	must(output.Flush())
}

var ways = map[string]func(time.Duration){
	"sleep":         block,
	"compute_until": computeUntil,
	"compute_for":   computeFor,
}

// Sleeps in a system call: time.Sleep would not hold the thread.
func block(duration time.Duration) {
	left := syscall.NsecToTimespec(duration.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

func computeUntil(duration time.Duration) {
	for start := time.Now(); time.Since(start) < duration; {
	}
}

// The steps that a core makes in a millisecond. A goroutine changes its thread while it computes, so
// the CPU clock of a thread can't tell how much it has computed.
var stepsPerMillisecond int64

func calibrate() {
	const steps = 20_000_000
	best := time.Hour
	for i := 0; i < 3; i++ {
		start := time.Now()
		compute(steps)
		if took := time.Since(start); took < best {
			best = took
		}
	}
	stepsPerMillisecond = steps * int64(time.Millisecond) / int64(best)
}

func computeFor(duration time.Duration) {
	compute(stepsPerMillisecond * duration.Microseconds() / 1000)
}

var sink atomic.Uint64

func compute(steps int64) {
	state := uint64(1)
	for i := int64(0); i < steps; i++ {
		state = state*6364136223846793005 + 1442695040888963407
	}
	sink.Store(state)
}

// Their due moments don't move when the goroutine comes late, and it makes up for missed bursts.
func bursts(count int, every time.Duration, hold func(), stop *atomic.Bool) {
	for due := time.Now(); !stop.Load(); due = due.Add(every) {
		time.Sleep(time.Until(due))
		for i := 0; i < count; i++ {
			go hold()
		}
	}
}

var victims = map[string]func(time.Duration) []time.Duration{
	"ticker":        tick,
	"outside_spawn": spawnOutside,
}

func tick(duration time.Duration) []time.Duration {
	result := make(chan []time.Duration)
	go func() {
		var late []time.Duration
		for end := time.Now().Add(duration); time.Now().Before(end); {
			due := time.Now().Add(time.Millisecond)
			time.Sleep(time.Millisecond)
			late = append(late, time.Since(due))
		}
		result <- late
	}()
	return <-result
}

// Go has no threads outside of its runtime: a goroutine that sleeps starts the others.
func spawnOutside(duration time.Duration) []time.Duration {
	waits := make(chan time.Duration, 1<<20)
	count := 0
	for end := time.Now().Add(duration); time.Now().Before(end); count++ {
		time.Sleep(time.Millisecond)
		start := time.Now()
		go func() { waits <- time.Since(start) }()
	}
	late := make([]time.Duration, count)
	for i := range late {
		late[i] = <-waits
	}
	return late
}
