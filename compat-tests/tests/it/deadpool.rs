//! deadpool: a pool of connections, and one of database sessions.
//!
//! deadpool's own timeouts require one of the runtimes that it knows; gmp's `timeout` around `get`
//! has the same effect.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use compat_tests::server::{self, Server};
use deadpool::managed::{Manager, Metrics, Pool, PoolError, RecycleError, RecycleResult};
use gmp_exec::time::timeout;
use gmp_io::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{on_gmp, serve};
use crate::tokio_postgres::open;

/// Makes connections to a server that doubles numbers and closes the connection at 0.
struct Connections {
    address: SocketAddr,
    made: AtomicUsize,
}

impl Manager for Connections {
    type Type = TcpStream;
    type Error = io::Error;

    async fn create(&self) -> io::Result<TcpStream> {
        self.made.fetch_add(1, Ordering::SeqCst);
        TcpStream::connect(self.address).await
    }

    /// An idle connection has data to read only at its end.
    async fn recycle(&self, stream: &mut TcpStream, _: &Metrics) -> RecycleResult<io::Error> {
        match stream.try_read(&mut [0; 1]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            _ => Err(RecycleError::message("the server has hung up")),
        }
    }
}

async fn pool(max_size: usize) -> Pool<Connections> {
    let address = serve(|mut stream| async move {
        while let Ok(number @ 1..) = stream.read_u32().await {
            stream.write_u32(2 * number).await.expect("written");
        }
    });
    let manager = Connections { address: address.await, made: AtomicUsize::new(0) };
    Pool::builder(manager).max_size(max_size).build().expect("a pool")
}

async fn double(pool: &Pool<Connections>, number: u32) -> u32 {
    let mut stream = pool.get().await.expect("a connection");
    stream.write_u32(number).await.expect("written");
    stream.read_u32().await.expect("read")
}

#[test]
fn many_tasks_take_turns_with_few_connections() {
    const CONNECTIONS: usize = 4;
    on_gmp(|| async {
        let pool = pool(CONNECTIONS).await;
        let tasks: Vec<_> = (1..=200)
            .map(|number| {
                let pool = pool.clone();
                gmp_exec::spawn(async move { assert_eq!(double(&pool, number).await, 2 * number) })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task");
        }
        assert!((1..=CONNECTIONS).contains(&pool.manager().made.load(Ordering::SeqCst)));
        assert!(pool.status().size <= CONNECTIONS);
    });
}

/// A dropped `get` leaves nothing behind: the next caller gets the connection.
#[test]
fn waiting_for_a_connection_may_be_given_up_on() {
    on_gmp(|| async {
        let pool = pool(1).await;
        let taken = pool.get().await.expect("a connection");
        for _ in 0..3 {
            let result = timeout(Duration::from_millis(10), pool.get()).await;
            assert!(result.is_err(), "there is one only");
        }
        let patient = pool.clone();
        let patient = gmp_exec::spawn(async move { double(&patient, 21).await });
        drop(taken);
        assert_eq!(patient.await.expect("a task"), 42);
        assert_eq!((pool.status().size, pool.status().available), (1, 1));
    });
}

#[test]
fn a_connection_that_has_ended_is_replaced() {
    on_gmp(|| async {
        let pool = pool(1).await;
        let mut stream = pool.get().await.expect("a connection");
        stream.write_u32(0).await.expect("written");
        stream.readable().await.expect("the end");
        drop(stream);
        assert_eq!(double(&pool, 5).await, 10);
        assert_eq!(pool.manager().made.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn a_closed_pool_gives_nothing_out() {
    on_gmp(|| async {
        let pool = pool(1).await;
        let _taken = pool.get().await.expect("a connection");
        let waiting = pool.clone();
        let waiting = gmp_exec::spawn(async move { waiting.get().await.map(drop) });
        gmp_exec::task::yield_now().await;
        pool.close();
        assert!(matches!(waiting.await.expect("a task"), Err(PoolError::Closed)));
        assert!(matches!(pool.get().await.map(drop), Err(PoolError::Closed)));
    });
}

/// Opens sessions with a database.
struct Sessions(Arc<Server>);

impl Manager for Sessions {
    type Type = ::tokio_postgres::Client;
    type Error = Infallible;

    async fn create(&self) -> Result<::tokio_postgres::Client, Infallible> {
        let (client, mut connection) = open(&self.0).await;
        gmp_exec::spawn(poll_fn(move |cx| Pin::new(&mut connection).poll(cx)));
        Ok(client)
    }

    async fn recycle(&self, client: &mut ::tokio_postgres::Client, _: &Metrics) -> RecycleResult<Infallible> {
        client.check_connection().await.map_err(|error| RecycleError::message(error.to_string()))
    }
}

/// Many callers use the sessions one after the other, and a session that the database has ended is
/// replaced.
#[test]
fn database_sessions_are_pooled() {
    const SESSIONS: usize = 2;
    let server = server::postgres();
    on_gmp(|| async {
        let pool = Pool::<Sessions>::builder(Sessions(server.clone())).max_size(SESSIONS).build().expect("a pool");
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let pool = pool.clone();
                gmp_exec::spawn(async move {
                    let session = pool.get().await.expect("a session");
                    session.query_one("SELECT pg_backend_pid()", &[]).await.expect("a row").get::<_, i32>(0)
                })
            })
            .collect();
        let mut backends = std::collections::HashSet::new();
        for task in tasks {
            backends.insert(task.await.expect("a task"));
        }
        assert!(backends.len() <= SESSIONS, "{backends:?}");

        let (executioner, victim) = (pool.get().await.expect("a session"), pool.get().await.expect("a session"));
        let pid: i32 = victim.query_one("SELECT pg_backend_pid()", &[]).await.expect("a row").get(0);
        executioner.execute("SELECT pg_terminate_backend($1)", &[&pid]).await.expect("done");
        // The session's task sees the end after the answer.
        while victim.query_one("SELECT 1", &[]).await.is_ok() {}
        drop((executioner, victim));
        let sessions = [pool.get().await.expect("a session"), pool.get().await.expect("a session")];
        for session in &sessions {
            let new: i32 = session.query_one("SELECT pg_backend_pid()", &[]).await.expect("a row").get(0);
            assert_ne!(new, pid);
        }
    });
}
