//! Requests of several kinds over pools of connections, with a thread for every connection.

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

/// How long after the last due moment requests are still sent. What a server couldn't take until
/// then has failed, or a server that gets more than it can do would keep a run from ending.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be sent.
#[derive(Debug)]
pub struct Load {
    /// The server.
    pub addr: SocketAddr,
    /// Requests a second, of all kinds together.
    pub rate: u64,
    /// For how long requests are sent that don't count.
    pub warm_up: Duration,
    /// For how long requests are due after that.
    pub duration: Duration,
    /// For how many requests a connection is used.
    pub reuse: Reuse,
    /// What is requested over which connections.
    pub pools: Vec<Pool>,
}

/// Connections, and what goes over them.
#[derive(Debug)]
pub struct Pool {
    /// How many connections there are.
    pub connections: usize,
    /// What is requested over them. No request is in two shares.
    pub kinds: Vec<Kind>,
}

/// Requests of one path.
#[derive(Debug, Clone)]
pub struct Kind {
    /// What is requested.
    pub path: String,
    /// Which of the due requests these are.
    pub share: Share,
}

/// What was seen of the requests of one kind.
#[derive(Debug, Default)]
pub struct Seen {
    /// From the due moments to the answers.
    pub answers: Tally,
    /// The server's part of that: from the moment of sending, or from the due one if every
    /// connection was waiting for an answer.
    pub served: Tally,
    /// By how much requests were sent late though a connection was free for them: the generator's
    /// own part.
    pub lateness: Tally,
    /// How many were sent late because every connection was waiting for an answer.
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

    /// Adds all that `other` holds.
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
    /// Each gives its connection back at the end, so that all stay open until then.
    threads: Vec<JoinHandle<Connection>>,
    measured_from: Instant,
    until: Instant,
}

impl Running {
    /// Opens all connections, then starts to send.
    ///
    /// # Errors
    ///
    /// A connection can't be opened, or a thread can't be started.
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

    /// When the first request that counts is due.
    pub fn measured_from(&self) -> Instant {
        self.measured_from
    }

    /// When the last one has been due.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// What was seen since the last time, kind by kind, one pool after the other.
    pub fn take(&self) -> Vec<Seen> {
        self.pools.iter().flat_map(|clients| clients.take()).collect()
    }

    /// Waits for the last answer, then closes the connections. What was seen since the last time,
    /// as [`take`](Self::take) gives it.
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

/// What the threads of a pool share.
#[derive(Debug)]
struct Clients {
    /// A path, and what was seen of it: locked for less than a microsecond after each answer, when
    /// its latency is known already.
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
            let result = if given_up { Err(Failure::NotSent) } else { connection.get(path) };
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

/// The kernel may let a sleeping thread sleep 50 µs longer, to wake several at once: not these.
/// Where it can't be told so, the latencies are a little too long, for every server alike.
fn sleep_precisely() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    const CONNECTIONS: usize = 8;
    const DEADLINE: Duration = Duration::from_secs(30);

    #[derive(Debug, PartialEq)]
    enum Event {
        Answered,
        Closed,
    }

    fn server() -> io::Result<(SocketAddr, Receiver<Event>)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (addr, (events, seen)) = (listener.local_addr()?, channel());
        thread::spawn(move || {
            for stream in listener.incoming().take(CONNECTIONS) {
                let events = events.clone();
                thread::spawn(move || serve(stream.unwrap(), &events));
            }
        });
        Ok((addr, seen))
    }

    fn serve(mut stream: TcpStream, events: &Sender<Event>) {
        let mut request = [0; 1024];
        while stream.read(&mut request).unwrap() > 0 {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            events.send(Event::Answered).unwrap();
        }
        // Nobody listens any more when the test has failed.
        let _ = events.send(Event::Closed);
    }

    /// A long run looks at the server's descriptors while most connections have nothing more to
    /// send.
    #[test]
    fn connections_stay_open_until_the_load_is_finished() {
        let (addr, events) = server().unwrap();
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
        assert_eq!([event(), event()], [Event::Answered, Event::Answered]);
        let seen = running.finish();
        assert_eq!((seen[0].answers.requests(), seen[0].served.requests()), (2, 2));
        (0..CONNECTIONS).for_each(|_| assert_eq!(event(), Event::Closed));
    }
}
