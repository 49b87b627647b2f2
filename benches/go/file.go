package main

import (
	"os"
	"time"
)

const (
	reads    = 1_024
	fileSize = 4096
)

// Goroutines read a file by its path; the file is in the kernel's memory.
func readFile(tasks int) time.Duration {
	path := temporaryFile()
	elapsed := together(tasks, func(int) {
		for i := 0; i < reads/tasks; i++ {
			content, err := os.ReadFile(path)
			must(err)
			if len(content) != fileSize {
				panic("the file wasn't read to its end")
			}
		}
	})
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
