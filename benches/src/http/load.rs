//! Requests of two kinds over two pools of connections or a shared one, with one thread per
//! connection.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, mem};

use super::due::{Due, DueMoments, Wanted};
use super::{Connection, Failure, Tally};
use crate::report::Sending;

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
    /// Whether every request has a new connection.
    pub fresh: bool,
    /// What the requests ask for that don't hold their thread.
    pub path: String,
    /// How many connections there are for them.
    pub connections: usize,
    /// The requests that do, if there are any.
    pub holding: Option<Holding>,
}

/// Requests that hold their thread.
#[derive(Debug)]
pub struct Holding {
    /// What they ask for.
    pub path: String,
    /// The percentage of all requests.
    pub percent: u64,
    /// How many connections there are for them alone. Without any, they share those of the others.
    pub connections: usize,
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

    /// The generator's part of the latencies.
    pub fn sending(&self) -> Sending {
        Sending {
            served_p99: self.served.millis_at(99.0),
            sent_late_p99: self.lateness.millis_at(99.0),
            sent_late_max: self.lateness.millis_at(100.0),
            no_connection: self.no_connection,
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
    clients: Arc<Clients>,
    /// Each thread returns its connection at the end, so that all connections stay open until then.
    threads: Vec<JoinHandle<Connection>>,
}

impl Running {
    /// Opens all connections, then starts to send.
    pub fn start(load: &Load) -> io::Result<Self> {
        let (percent, own) = load.holding.as_ref().map_or((0, 0), |holding| (holding.percent, holding.connections));
        let pools = match own {
            0 => vec![(Wanted::All, load.connections)],
            own => vec![(Wanted::Others, load.connections), (Wanted::Holding, own)],
        };
        let open = |(wanted, count): (_, usize)| {
            let connections = (0..count).map(|_| Connection::open(load.addr, load.fresh));
            Ok((wanted, connections.collect::<io::Result<Vec<_>>>()?))
        };
        let pools = pools.into_iter().map(open).collect::<io::Result<Vec<_>>>()?;
        let start = Instant::now() + HEAD_START;
        let measured_from = start + load.warm_up;
        let until = measured_from + load.duration;
        let paths = [load.path.clone(), load.holding.as_ref().map(|holding| holding.path.clone()).unwrap_or_default()];
        let clients = Arc::new(Clients { paths, seen: Default::default(), measured_from, until });
        let mut threads = Vec::new();
        for (wanted, connections) in pools {
            let duration = load.warm_up + load.duration;
            let moments = Arc::new(DueMoments::new(start, load.rate, duration, percent, wanted));
            for connection in connections {
                let (clients, moments) = (clients.clone(), moments.clone());
                let client = thread::Builder::new().name("client".into());
                threads.push(client.spawn(move || clients.be_on_time(&moments, connection))?);
            }
        }
        Ok(Running { clients, threads })
    }

    /// The moment at which the first request that counts is due.
    pub fn measured_from(&self) -> Instant {
        self.clients.measured_from
    }

    /// The moment at which the last request was due.
    pub fn until(&self) -> Instant {
        self.clients.until
    }

    /// Takes the results since the previous call, of requests that don't hold their thread and of
    /// those that do.
    pub fn take(&self) -> [Seen; 2] {
        let take = |seen: &Mutex<Seen>| mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        self.clients.seen.each_ref().map(take)
    }

    /// Waits for the last answer, then closes the connections. Returns the results since the
    /// previous [`take`](Self::take).
    pub fn finish(mut self) -> [Seen; 2] {
        let threads = self.threads.drain(..).map(|thread| thread.join().expect("a client's thread doesn't panic"));
        drop(threads.collect::<Vec<Connection>>());
        self.take()
    }
}

/// The state that the threads share.
#[derive(Debug)]
struct Clients {
    /// Those of requests that don't hold their thread, and of requests that do.
    paths: [String; 2],
    /// A thread holds the lock for less than a microsecond after each answer, when its latency is
    /// already known.
    seen: [Mutex<Seen>; 2],
    measured_from: Instant,
    until: Instant,
}

impl Clients {
    /// Sends requests at their due moments.
    fn be_on_time(&self, moments: &DueMoments, mut connection: Connection) -> Connection {
        sleep_precisely();
        while let Some(due) = moments.wait() {
            let lateness = due.at.elapsed();
            let given_up = Instant::now() > self.until + PATIENCE;
            let kind = usize::from(due.holds);
            let result = if given_up { Err(NOT_SENT.to_owned()) } else { connection.get(&self.paths[kind]) };
            if due.at >= self.measured_from {
                let latency = due.at.elapsed();
                let mut seen = self.seen[kind].lock().unwrap_or_else(PoisonError::into_inner);
                seen.record(due, lateness, latency, result);
            }
        }
        connection
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
        let load = Load {
            addr,
            rate: 10,
            warm_up: Duration::ZERO,
            duration: Duration::from_millis(200),
            fresh: false,
            path: "/".to_owned(),
            connections: CONNECTIONS,
            holding: None,
        };
        let running = Running::start(&load).unwrap();
        let event = || events.recv_timeout(DEADLINE).unwrap();
        assert_eq!([event(), event()], ["answered"; 2]);
        let seen = running.finish();
        assert_eq!((seen[0].answers.requests(), seen[0].served.requests()), (2, 2));
        (0..CONNECTIONS).for_each(|_| assert_eq!(event(), "closed"));
    }
}
