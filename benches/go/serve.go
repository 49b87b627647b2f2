package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// The server of `http_mix`: the same paths as the application in Rust. Prints its address, and ends
// when standard input does.
func serve() {
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		io.WriteString(answer, "hello\n")
	})
	http.HandleFunc("/block", holding(block))
	http.HandleFunc("/compute", holding(computeUntil))
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(err)
	fmt.Println(listener.Addr())
	go func() { must(http.Serve(listener, nil)) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	must(err)
}

// Holds the thread for as many milliseconds as `ms` in the query says.
func holding(hold func(time.Duration)) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		duration, err := time.ParseDuration(request.FormValue("ms") + "ms")
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
		hold(duration)
		fmt.Fprintln(answer, "held its thread for", duration)
	}
}
