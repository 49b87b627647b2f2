//! A queue of jobs. Eight workers take them, and share four connections to a database.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use deadpool::managed::{Manager, Metrics, Pool, RecycleResult};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::redis;

const WORKERS: usize = 8;
const CONNECTIONS: usize = 4;

struct Job {
    answer: oneshot::Sender<String>,
}

struct Connections {
    database: SocketAddr,
}

impl Manager for Connections {
    type Type = BufReader<TcpStream>;
    type Error = std::io::Error;

    async fn create(&self) -> std::io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(self.database).await?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }

    async fn recycle(&self, _: &mut BufReader<TcpStream>, _: &Metrics) -> RecycleResult<std::io::Error> {
        Ok(())
    }
}

/// The database runs in the same process.
pub(super) async fn router() -> Router {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let database = listener.local_addr().expect("a listener has an address");
    tokio::spawn(redis::serve(listener));
    let pool = Pool::builder(Connections { database }).max_size(CONNECTIONS).build().expect("no timeout is set");
    let (queue, jobs) = mpsc::channel(64);
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..WORKERS {
        tokio::spawn(work(jobs.clone(), pool.clone()));
    }
    Router::new().route("/job", get(enqueue)).with_state(queue)
}

async fn enqueue(State(queue): State<mpsc::Sender<Job>>) -> Result<String, StatusCode> {
    let (answer, answered) = oneshot::channel();
    queue.send(Job { answer }).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    answered.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn work(jobs: Arc<Mutex<mpsc::Receiver<Job>>>, pool: Pool<Connections>) {
    loop {
        let Some(job) = jobs.lock().await.recv().await else { return };
        if let Ok(value) = ask(&pool).await {
            // The client may be gone.
            _ = job.answer.send(value);
        }
    }
}

async fn ask(pool: &Pool<Connections>) -> anyhow::Result<String> {
    let mut connection = pool.get().await?;
    connection.get_mut().write_all(b"GET key\n").await?;
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    Ok(line)
}
