package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	spawnTasks = 10_000
	yieldTasks = 200
	yieldsEach = 1_000
	pingTasks  = 1_000
	chainDepth = 1_000
	messages   = 200_000
	ringTasks  = 500
	ringHops   = 100_000
)

// A countdown reports the last task: here it is a counter and a channel, in Rust a counter and a
// Notify.
type countdown struct {
	remaining atomic.Int32
	last      chan struct{}
}

func newCountdown(tasks int) *countdown {
	c := &countdown{last: make(chan struct{}, 1)}
	c.remaining.Store(int32(tasks))
	return c
}

func (c *countdown) decrement() {
	if c.remaining.Add(-1) == 0 {
		c.last <- struct{}{}
	}
}

// Spawns goroutines that count down.
func spawnLocal() time.Duration {
	c := newCountdown(spawnTasks)
	start := time.Now()
	for i := 0; i < spawnTasks; i++ {
		go c.decrement()
	}
	<-c.last
	return time.Since(start)
}

// A goroutine has no handle to await; a WaitGroup takes its place.
func spawnJoin() time.Duration {
	var all sync.WaitGroup
	start := time.Now()
	all.Add(spawnTasks)
	for i := 0; i < spawnTasks; i++ {
		go all.Done()
	}
	all.Wait()
	return time.Since(start)
}

// Starts goroutines and waits for the last one.
func together(tasks int, task func(number int)) time.Duration {
	c := newCountdown(tasks)
	start := time.Now()
	for i := 0; i < tasks; i++ {
		number := i
		go func() {
			task(number)
			c.decrement()
		}()
	}
	<-c.last
	return time.Since(start)
}

func yieldMany() time.Duration {
	return together(yieldTasks, func(int) {
		for i := 0; i < yieldsEach; i++ {
			runtime.Gosched()
		}
	})
}

// A channel with room for one message is Go's oneshot: sending doesn't wait.
func pingPong() time.Duration {
	return together(pingTasks, func(int) {
		ping, pong := make(chan struct{}, 1), make(chan struct{}, 1)
		go func() {
			<-ping
			pong <- struct{}{}
		}()
		ping <- struct{}{}
		<-pong
	})
}

func chainedSpawn() time.Duration {
	last := make(chan struct{}, 1)
	start := time.Now()
	link(chainDepth, last)
	<-last
	return time.Since(start)
}

func link(depth int, last chan struct{}) {
	if depth == 0 {
		last <- struct{}{}
	} else {
		go link(depth-1, last)
	}
}

func mpsc(capacity int) time.Duration {
	channel, finished := make(chan uint32, capacity), make(chan int, 1)
	start := time.Now()
	go func() {
		for i := uint32(0); i < messages; i++ {
			channel <- i
		}
		close(channel)
	}()
	go func() {
		received := 0
		for range channel {
			received++
		}
		finished <- received
	}()
	if <-finished != messages {
		panic("messages were lost")
	}
	return time.Since(start)
}

// A token that goes round: the number of hops left, and the start of the measurement.
type token struct {
	hops  int
	start time.Time
}

func ring() time.Duration {
	finished := make(chan time.Duration, 1)
	first := make(chan token, 1)
	last := first
	for i := 1; i < ringTasks; i++ {
		from, to := last, make(chan token, 1)
		go func() {
			passOn(from, to, finished)
			close(to)
		}()
		last = to
	}
	go passOn(last, first, finished)

	// One lap that isn't measured: afterwards every goroutine waits for the token.
	first <- token{ringTasks, time.Now()}
	<-finished
	first <- token{ringHops, time.Now()}
	elapsed := <-finished
	close(first) // Its end travels round the ring, and every goroutine ends behind it.
	return elapsed
}

func passOn(from, to chan token, finished chan time.Duration) {
	for token := range from {
		token.hops--
		if token.hops == 0 {
			finished <- time.Since(token.start)
		} else {
			to <- token
		}
	}
}
