package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

func plaintext() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(answer http.ResponseWriter, _ *http.Request) {
		io.WriteString(answer, "Hello, World!")
	})
	return mux
}

type message struct {
	Message string    `json:"message"`
	Numbers [8]uint32 `json:"numbers"`
}

func jsonObject() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/json", func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Type", "application/json")
		json.NewEncoder(answer).Encode(message{"Hello, World!", [8]uint32{7, 7, 7, 7, 7, 7, 7, 7}})
	})
	return mux
}

// The server behind the proxy runs in the same process.
func proxy() *http.ServeMux {
	listener := listen()
	go func() { must(http.Serve(listener, plaintext())) }()
	url := "http://" + listener.Addr().String() + "/"
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	mux := http.NewServeMux()
	mux.HandleFunc("/proxied", func(answer http.ResponseWriter, _ *http.Request) {
		upstream, err := client.Get(url)
		if err != nil {
			answer.WriteHeader(http.StatusBadGateway)
			return
		}
		defer upstream.Body.Close()
		io.Copy(answer, upstream.Body)
	})
	return mux
}

func files() *http.ServeMux {
	folder, err := os.MkdirTemp("", "services")
	must(err)
	must(os.WriteFile(filepath.Join(folder, "page"), bytes.Repeat([]byte("x"), 16<<10), 0o600))
	mux := http.NewServeMux()
	mux.Handle("/files/", http.StripPrefix("/files", http.FileServer(http.Dir(folder))))
	return mux
}
