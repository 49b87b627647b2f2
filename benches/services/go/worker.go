package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

const (
	workers     = 8
	connections = 4
)

type database struct {
	net.Conn
	lines *bufio.Reader
}

// A queue of jobs. Eight workers take them, and share four connections to a database, which runs in the
// same process.
func worker() *http.ServeMux {
	listener := listen()
	go serveLines(listener)
	pool := make(chan database, connections)
	for range connections {
		connection, err := net.Dial("tcp4", listener.Addr().String())
		must(err)
		pool <- database{connection, bufio.NewReader(connection)}
	}
	jobs := make(chan chan string, 64)
	for range workers {
		go work(jobs, pool)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/job", func(answer http.ResponseWriter, _ *http.Request) {
		answered := make(chan string, 1)
		jobs <- answered
		io.WriteString(answer, <-answered)
	})
	return mux
}

func work(jobs chan chan string, pool chan database) {
	for answered := range jobs {
		connection := <-pool
		_, err := io.WriteString(connection, "GET key\n")
		must(err)
		line, err := connection.lines.ReadString('\n')
		must(err)
		pool <- connection
		answered <- line
	}
}
