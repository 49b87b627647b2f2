// The services of this folder's parent in Go, as an application would write them with the standard
// library. The only arguments are `serve SERVICE`: the program prints its address, serves until standard
// input ends, and then prints its CPU time in microseconds and its context switches.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

var routes = map[string]func() *http.ServeMux{
	"plaintext": plaintext,
	"json":      jsonObject,
	"proxy":     proxy,
	"files":     files,
	"worker":    worker,
}

func main() {
	if len(os.Args) != 3 || os.Args[1] != "serve" {
		fmt.Fprintln(os.Stderr, "usage: serve SERVICE")
		os.Exit(2)
	}
	listener := listen()
	if os.Args[2] == "redis" {
		go serveLines(listener)
	} else {
		go serveHTTP(listener, os.Args[2])
	}
	fmt.Println(listener.Addr())
	_, err := io.Copy(io.Discard, os.Stdin)
	must(err)
	printUsed()
}

func serveHTTP(listener net.Listener, name string) {
	route := routes[name]
	if route == nil {
		fmt.Fprintln(os.Stderr, "no such service:", name)
		os.Exit(2)
	}
	mux := route()
	mux.HandleFunc("/trouble/{name}", func(answer http.ResponseWriter, request *http.Request) {
		if !act(request.PathValue("name")) {
			http.NotFound(answer, request)
		}
	})
	must(http.Serve(listener, mux))
}

func listen() net.Listener {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(err)
	return listener
}

func printUsed() {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	microseconds := (used.Utime.Sec+used.Stime.Sec)*1_000_000 + used.Utime.Usec + used.Stime.Usec
	fmt.Println(microseconds, used.Nvcsw+used.Nivcsw)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
