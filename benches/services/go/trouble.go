package main

import (
	"bytes"
	"os"
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
