//! Requests of several kinds over pools of connections, with one thread per connection.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, mem};

use super::due::{Due, DueMoments};
use super::{Connection, Failure, Reuse, Share, Tally};

/// Time for the threads to start before the first request is due.
const HEAD_START: Duration = Duration::from_millis(100);

/// The time after the last due moment during which requests are still sent. Requests that the
/// server couldn't take by then have failed; otherwise an overloaded server would keep a run from
/// ending.
const PATIENCE: Duration = Duration::from_secs(10);

const NOT_SENT: &str = "not sent: no connection was free in time";

/// The load to send.
#[derive(Debug)]
pub struct Load {
    /// The server.
    pub addr: SocketAddr,
    /// Requests per second, of all kinds together.
    pub rate: u64,
    /// How long requests are sent that don't count.
    pub warm_up: Duration,
    /// How long requests are due after that.
    pub duration: Duration,
    /// The number of requests for which a connection is used.
    pub reuse: Reuse,
    /// The requests and the connections that they use.
    pub pools: Vec<Pool>,
}

/// A pool of connections and the requests that it sends.
#[derive(Debug)]
pub struct Pool {
    /// How many connections there are.
    pub connections: usize,
    /// The requests. No request is in two shares.
    pub kinds: Vec<Kind>,
}

/// Requests of one path.
#[derive(Debug, Clone)]
pub struct Kind {
    /// The path.
    pub path: String,
    /// The due requests that ask for this path.
    pub share: Share,
}

/// The results of one kind of request.
#[derive(Debug, Default)]
pub struct Seen {
    /// The latencies from the due moments to the answers.
    pub answers: Tally,
    /// The server's part of the latencies: from the moment of sending, or from the due moment if
    /// every connection was waiting for an answer.
    pub served: Tally,
    /// How late requests were sent though a connection was free: the generator's own part.
    pub lateness: Tally,
    /// How many requests were sent late because every connection was waiting for an answer.
    pub no_connection: u64,
}

impl Seen {
    fn record(&mut self, due: Due, lateness: Duration, latency: Duration, result: Result<(), Failure>) {
        self.answers.record(latency, result);
        if due.in_time {
            self.lateness.record(lateness, Ok(()));
            self.served.record(latency - lateness, Ok(()));
        } else {
            self.no_connection += 1;
            self.served.record(latency, Ok(()));
        }
    }

    /// Adds everything that `other` holds.
    pub fn add(&mut self, other: &Seen) {
        self.answers.add(&other.answers);
        self.served.add(&other.served);
        self.lateness.add(&other.lateness);
        self.no_connection += other.no_connection;
    }
}

/// A load that is being sent.
#[derive(Debug)]
pub struct Running {
    pools: Vec<Arc<Clients>>,
    /// Each thread returns its connection at the end, so that all connections stay open until then.
    threads: Vec<JoinHandle<Connection>>,
    measured_from: Instant,
    until: Instant,
}

impl Running {
    /// Opens all connections, then starts to send.
    pub fn start(load: &Load) -> io::Result<Self> {
        let connections = load.pools.iter().map(|pool| open(load, pool.connections));
        let connections = connections.collect::<io::Result<Vec<_>>>()?;
        let start = Instant::now() + HEAD_START;
        let measured_from = start + load.warm_up;
        let until = measured_from + load.duration;
        let clients = |pool: &Pool| {
            let shares = pool.kinds.iter().map(|kind| kind.share).collect();
            let moments = DueMoments::new(start, load.rate, load.warm_up + load.duration, shares);
            let kinds = pool.kinds.iter().map(|kind| (kind.path.clone(), Mutex::default())).collect();
            Arc::new(Clients { kinds, moments, measured_from, until })
        };
        let pools: Vec<_> = load.pools.iter().map(clients).collect();
        let threads = pools.iter().zip(connections).flat_map(|(clients, connections)| {
            connections.into_iter().map(|connection| {
                let clients = clients.clone();
                thread::Builder::new().name("client".into()).spawn(move || clients.be_on_time(connection))
            })
        });
        let threads = threads.collect::<io::Result<_>>()?;
        Ok(Running { pools, threads, measured_from, until })
    }

    /// The moment at which the first request that counts is due.
    pub fn measured_from(&self) -> Instant {
        self.measured_from
    }

    /// The moment at which the last request was due.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Takes the results since the previous call, kind by kind, one pool after the other.
    pub fn take(&self) -> Vec<Seen> {
        self.pools.iter().flat_map(|clients| clients.take()).collect()
    }

    /// Waits for the last answer, then closes the connections. Returns the results since the
    /// previous [`take`](Self::take), in the same order.
    pub fn finish(mut self) -> Vec<Seen> {
        let join = |thread: JoinHandle<_>| thread.join().expect("a client's thread doesn't panic");
        let connections: Vec<Connection> = mem::take(&mut self.threads).into_iter().map(join).collect();
        drop(connections);
        self.take()
    }
}

fn open(load: &Load, count: usize) -> io::Result<Vec<Connection>> {
    (0..count).map(|_| Connection::open(load.addr, load.reuse)).collect()
}

/// The state that the threads of a pool share.
#[derive(Debug)]
struct Clients {
    /// A path and its results. A thread holds the lock for less than a microsecond after each
    /// answer, when its latency is already known.
    kinds: Vec<(String, Mutex<Seen>)>,
    moments: DueMoments,
    measured_from: Instant,
    until: Instant,
}

impl Clients {
    /// Sends requests at their due moments.
    fn be_on_time(&self, mut connection: Connection) -> Connection {
        sleep_precisely();
        while let Some(due) = self.moments.wait() {
            let lateness = due.at.elapsed();
            let given_up = Instant::now() > self.until + PATIENCE;
            let (path, seen) = &self.kinds[due.share];
            let result = if given_up { Err(NOT_SENT.to_owned()) } else { connection.get(path) };
            if due.at >= self.measured_from {
                let latency = due.at.elapsed();
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.record(due, lateness, latency, result);
            }
        }
        connection
    }

    fn take(&self) -> Vec<Seen> {
        let take = |seen: &Mutex<Seen>| mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        self.kinds.iter().map(|(_, seen)| take(seen)).collect()
    }
}

/// Turns off the 50 µs by which the kernel may prolong a thread's sleep to wake several threads at
/// once. Where the system refuses, the latencies are a little too long, for every server alike.
fn sleep_precisely() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    const CONNECTIONS: usize = 8;
    const DEADLINE: Duration = Duration::from_secs(30);

    /// A server that reports every answer, and every connection that is closed.
    fn server() -> (SocketAddr, Receiver<&'static str>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (addr, (events, seen)) = (listener.local_addr().unwrap(), channel());
        thread::spawn(move || {
            for stream in listener.incoming().take(CONNECTIONS) {
                let (mut stream, events) = (stream.unwrap(), events.clone());
                thread::spawn(move || {
                    while stream.read(&mut [0; 1024]).unwrap() > 0 {
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                        events.send("answered").unwrap();
                    }
                    // If the test has failed, the receiver is gone.
                    let _ = events.send("closed");
                });
            }
        });
        (addr, seen)
    }

    /// A long run reads the server's descriptors while most connections have nothing more to send.
    #[test]
    fn connections_stay_open_until_the_load_is_finished() {
        let (addr, events) = server();
        let kind = Kind { path: "/".to_owned(), share: Share::AllBut(0) };
        let load = Load {
            addr,
            rate: 10,
            warm_up: Duration::ZERO,
            duration: Duration::from_millis(200),
            reuse: Reuse::KeptAlive,
            pools: vec![Pool { connections: CONNECTIONS, kinds: vec![kind] }],
        };
        let running = Running::start(&load).unwrap();
        let event = || events.recv_timeout(DEADLINE).unwrap();
        assert_eq!([event(), event()], ["answered"; 2]);
        let seen = running.finish();
        assert_eq!((seen[0].answers.requests(), seen[0].served.requests()), (2, 2));
        (0..CONNECTIONS).for_each(|_| assert_eq!(event(), "closed"));
    }
}
