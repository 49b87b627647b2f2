package main

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

const (
	exchanges      = 2_048
	crowdClients   = 1_000
	crowdExchanges = 30
)

var message = [64]byte{'s', 'i', 'x', 't', 'y'}

// Connects pairs of ends, then starts the clock and lets all of them exchange messages at once.
func echo(connections int, connect func() (client, peer net.Conn)) time.Duration {
	var clients, peers []net.Conn
	for i := 0; i < connections; i++ {
		client, peer := connect()
		clients, peers = append(clients, client), append(peers, peer)
	}
	c := newCountdown(connections)
	start := time.Now()
	for i := range clients {
		client, peer := clients[i], peers[i]
		go respond(peer, exchanges/connections)
		go func() {
			ask(client, exchanges/connections)
			c.decrement()
		}()
	}
	<-c.last
	return time.Since(start)
}

func ask(conn net.Conn, messages int) {
	var echo [64]byte
	for i := 0; i < messages; i++ {
		send(conn, &message)
		receive(conn, &echo)
	}
	if echo != message {
		panic("what comes back isn't what was sent")
	}
	must(conn.Close())
}

func respond(conn net.Conn, messages int) {
	var message [64]byte
	for i := 0; i < messages; i++ {
		receive(conn, &message)
		send(conn, &message)
	}
	must(conn.Close())
}

func send(conn net.Conn, message *[64]byte) {
	_, err := conn.Write(message[:])
	must(err)
}

func receive(conn net.Conn, message *[64]byte) {
	_, err := io.ReadFull(conn, message[:])
	must(err)
}

// Clients connect to one listener at once; connecting is measured.
func crowd() time.Duration {
	c := newCountdown(crowdClients)
	start := time.Now()
	listener := listen()
	go func() {
		for i := 0; i < crowdClients; i++ {
			conn, err := listener.Accept()
			must(err)
			go respond(conn, crowdExchanges)
		}
		must(listener.Close())
	}()
	for i := 0; i < crowdClients; i++ {
		go func() {
			ask(dial(listener.Addr()), crowdExchanges)
			c.decrement()
		}()
	}
	<-c.last
	return time.Since(start)
}

func tcpPair() (client, peer net.Conn) {
	listener := listen()
	client = dial(listener.Addr())
	peer, err := listener.Accept()
	must(err)
	must(listener.Close())
	return client, peer
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	return listener
}

func dial(address net.Addr) net.Conn {
	conn, err := net.Dial("tcp", address.String())
	must(err)
	return conn
}

// Two sockets that are connected to each other. Go's own functions fix a socket's peer before the
// peer has a port, so the connection is made with a system call.
func udpPair() (client, peer net.Conn) {
	one, other := udpSocket(), udpSocket()
	connectUDP(one, other.LocalAddr())
	connectUDP(other, one.LocalAddr())
	return one, other
}

func udpSocket() *net.UDPConn {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(err)
	return socket
}

func connectUDP(socket *net.UDPConn, to net.Addr) {
	address := &syscall.SockaddrInet4{Port: to.(*net.UDPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	raw, err := socket.SyscallConn()
	must(err)
	must(raw.Control(func(fd uintptr) { err = syscall.Connect(int(fd), address) }))
	must(err)
}

func unixPair() (client, peer net.Conn) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(err)
	return unixEnd(ends[0]), unixEnd(ends[1])
}

// The connection has a duplicate of the descriptor.
func unixEnd(fd int) net.Conn {
	file := os.NewFile(uintptr(fd), "unix")
	conn, err := net.FileConn(file)
	must(err)
	must(file.Close())
	return conn
}
