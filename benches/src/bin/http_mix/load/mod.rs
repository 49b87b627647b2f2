//! HTTP at a constant rate, with latencies counted from the due moments.
//!
//! A client that sends its next request when the last one was answered asks least when the server
//! is slowest, and so omits exactly the latencies that matter. Here every request has a due moment
//! that the server can't move. Each connection has a thread: one that sleeps until a due moment and
//! blocks in `read` adds microseconds to the measurement, an event loop the time of its other work.

mod connection;
mod due;
mod seen;

use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, mem};

use anyhow::{Result, anyhow};

use self::connection::Connection;
use self::due::{DueMoments, Wanted};
pub(crate) use self::seen::Seen;
use crate::plan::Plan;

/// Connections of the requests that don't hold their thread. Enough for a server that stands still
/// for 100 ms at a rate of 1000 per second; if it stands still for longer, requests wait in the
/// generator instead of the server, and no latency changes.
const CONNECTIONS: usize = 128;

const HOLDING_CONNECTIONS: usize = 64;

const HEAD_START: Duration = Duration::from_millis(100);

/// The time after the last due moment during which requests are still sent. Requests that the
/// server couldn't take by then have failed; otherwise an overloaded server would keep a run from
/// ending.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which requests share connections, and the number of these.
fn pools(plan: &Plan) -> Vec<(Wanted, usize)> {
    match plan.variant.path {
        None => vec![(|_| true, CONNECTIONS)],
        Some(_) if plan.shared => vec![(|_| true, CONNECTIONS + HOLDING_CONNECTIONS)],
        Some(_) => vec![(|holds| !holds, CONNECTIONS), (|holds| holds, HOLDING_CONNECTIONS)],
    }
}

pub(crate) struct Running {
    pub(crate) clients: Arc<Clients>,
    /// Asks the kernel for the times of arrival.
    _noting: TcpStream,
    /// Each thread returns its connection at the end, so that all connections stay open until then.
    threads: Vec<JoinHandle<Connection>>,
}

impl Running {
    pub(crate) fn start(addr: SocketAddr, plan: &Plan) -> Result<Self> {
        let noting = connection::note_arrivals()?;
        let open = |(wanted, count): (_, usize)| {
            let connections = (0..count).map(|_| Connection::open(addr, plan.fresh));
            Ok((wanted, connections.collect::<io::Result<Vec<_>>>()?))
        };
        let pools = pools(plan).into_iter().map(open).collect::<io::Result<Vec<_>>>()?;
        let start = Instant::now() + HEAD_START;
        let measured_from = start + plan.warm_up;
        let until = measured_from + plan.duration;
        let paths = ["/", plan.variant.path.unwrap_or_default()];
        let clients = Arc::new(Clients { paths, seen: Default::default(), measured_from, until });
        let mut threads = Vec::new();
        for (wanted, connections) in pools {
            let moments = DueMoments::new(start, plan.rate, until - start, plan.variant.percent, wanted);
            let moments = Arc::new(moments);
            for connection in connections {
                let (clients, moments) = (clients.clone(), moments.clone());
                let client = thread::Builder::new().name("client".into());
                threads.push(client.spawn(move || clients.be_on_time(&moments, connection))?);
            }
        }
        Ok(Running { clients, _noting: noting, threads })
    }

    /// Takes the results since the previous call: of requests that don't hold their thread first.
    pub(crate) fn take(&self) -> [Seen; 2] {
        let take = |seen: &Mutex<Seen>| mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        self.clients.seen.each_ref().map(take)
    }

    /// Waits for the last answer, then closes the connections. Returns the results since the
    /// previous [`take`](Self::take).
    pub(crate) fn finish(mut self) -> [Seen; 2] {
        let threads = self.threads.drain(..).map(|thread| thread.join().expect("a client's thread doesn't panic"));
        drop(threads.collect::<Vec<Connection>>());
        self.take()
    }
}

pub(crate) struct Clients {
    /// Those of requests that don't hold their thread, and of requests that do.
    paths: [&'static str; 2],
    /// A thread holds the lock for less than a microsecond, when the latency is already known.
    seen: [Mutex<Seen>; 2],
    /// The moments at which the first request that counts and the last one are due.
    pub(crate) measured_from: Instant,
    pub(crate) until: Instant,
}

impl Clients {
    fn be_on_time(&self, moments: &DueMoments, mut connection: Connection) -> Connection {
        sleep_precisely();
        while let Some(due) = moments.wait() {
            let lateness = due.at.elapsed();
            let kind = usize::from(due.holds);
            let result = if Instant::now() > self.until + PATIENCE {
                Err(anyhow!("not sent: no connection was free in time"))
            } else {
                connection.get(self.paths[kind])
            };
            if due.at >= self.measured_from {
                let latency = due.at.elapsed();
                let (unread, failure) = match result {
                    Ok(unread) => (unread, None),
                    Err(error) => (None, Some(format!("{error:#}"))),
                };
                let mut seen = self.seen[kind].lock().unwrap_or_else(PoisonError::into_inner);
                seen.record(due, lateness, latency, unread, failure);
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
    use crate::plan::Variant;

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
        let (warm_up, duration) = (Duration::ZERO, Duration::from_millis(200));
        let plan = Plan { rate: 10, shared: false, fresh: false, warm_up, duration, variant: Variant::PLAIN };
        let running = Running::start(addr, &plan).unwrap();
        let event = || events.recv_timeout(DEADLINE).unwrap();
        assert_eq!([event(), event()], ["answered"; 2]);
        let seen = running.finish();
        assert_eq!((seen[0].answers.count(), seen[0].served.count()), (2, 2));
        (0..CONNECTIONS).for_each(|_| assert_eq!(event(), "closed"));
    }
}
