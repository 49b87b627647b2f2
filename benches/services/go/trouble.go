package main

import (
	"bytes"
	"os"
	"sync"
	"syscall"
	"time"
)

// What goes wrong in a handler; `false`: nothing has this name.
func act(name string) bool {
	switch name {
	case "block":
		block(100 * time.Millisecond)
	case "compute":
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		}
	case "faults":
		touched = bytes.Repeat([]byte{1}, 64<<20)
		touched = nil
	case "reclaimed":
		must(readReclaimed())
	case "disk":
		must(writeAndSync())
	default:
		return false
	}
	return true
}

// Holds the thread, as a call into a C library does; Go's own sleep would not.
func block(duration time.Duration) {
	left := syscall.NsecToTimespec(duration.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

// Global, so that the compiler keeps the allocation.
var touched []byte

func writeAndSync() error {
	file, err := os.CreateTemp("", "services")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := file.Write(bytes.Repeat([]byte{1}, 1<<20)); err != nil {
		return err
	}
	return file.Sync()
}

const (
	pages   = 256
	stride  = 64 << 10
	pageOut = 21 // MADV_PAGEOUT, which package syscall does not name.
)

// A mapped file on the disk, which nobody else has.
var mapped = sync.OnceValues(func() ([]byte, error) {
	file, err := os.CreateTemp("", "services")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := file.Write(bytes.Repeat([]byte{1}, pages*stride)); err != nil {
		return nil, err
	}
	if err := file.Sync(); err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(int(file.Fd()), 0, pages*stride, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return memory, syscall.Madvise(memory, syscall.MADV_RANDOM)
})

// Global, so that the compiler keeps the reads.
var sum byte

// Lets the kernel reclaim the pages, and reads one byte of each.
func readReclaimed() error {
	memory, err := mapped()
	if err != nil {
		return err
	}
	if err := syscall.Madvise(memory, pageOut); err != nil {
		return err
	}
	for at := 0; at < len(memory); at += stride {
		sum += memory[at]
	}
	return nil
}
