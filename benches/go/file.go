package main

import (
	"os"
	"time"
)

const (
	reads    = 1_024
	fileSize = 4096
)

// Goroutines read a file by its path; the kernel has it in memory.
func readFile(tasks int) time.Duration {
	path := temporaryFile()
	c := newCountdown(tasks)
	start := time.Now()
	for i := 0; i < tasks; i++ {
		go func() {
			for i := 0; i < reads/tasks; i++ {
				content, err := os.ReadFile(path)
				must(err)
				if len(content) != fileSize {
					panic("the file wasn't read to its end")
				}
			}
			c.decrement()
		}()
	}
	<-c.last
	elapsed := time.Since(start)
	must(os.Remove(path))
	return elapsed
}

func temporaryFile() string {
	file, err := os.CreateTemp("", "gmp-benches-go-")
	must(err)
	_, err = file.Write(make([]byte, fileSize))
	must(err)
	must(file.Close())
	return file.Name()
}
