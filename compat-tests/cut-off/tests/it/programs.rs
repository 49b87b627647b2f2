//! Compiled twice: with the `runtime`, `net` and so on of `super`.

use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::{fs, net, process, runtime, signal, stderr, task, time};
use crate::random::Random;
use crate::record::Record;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The kinds of tasks. They run until the runtime ends.
const KINDS: [fn(Random, Record) -> Task; 12] = [
    |random, record| Box::pin(serve(random, record)),
    |random, record| Box::pin(connect(random, record)),
    |random, record| Box::pin(sleep(random, record)),
    |random, record| Box::pin(receive(random, record)),
    |random, record| Box::pin(spawn(random, record)),
    |random, record| Box::pin(pass_on(random, record)),
    |random, record| Box::pin(listen_for_signals(random, record)),
    |random, record| Box::pin(wait_for_children(random, record)),
    |random, record| Box::pin(use_files(random, record)),
    |random, record| Box::pin(print(random, record)),
    |random, record| Box::pin(call_closures(random, record)),
    |random, record| Box::pin(hold_up(random, record)),
];

/// Runs a random program and ends its runtime.
pub(crate) fn run(mut random: Random, record: &Record) {
    let is_multi_thread = random.below(4) > 0;
    let runtime = if is_multi_thread {
        let workers = 1 + random.below(4) as usize;
        runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
    } else {
        runtime::Builder::new_current_thread().enable_all().build()
    };
    let runtime = runtime.expect("threads and descriptors are left");
    let moment = Duration::from_micros(random.below(3_000));
    for _ in 0..1 + random.below(10) {
        let kind = KINDS[random.below(KINDS.len() as u64) as usize];
        runtime.spawn(record.watch(kind(random.fork(), record.clone())));
    }
    if is_multi_thread {
        thread::sleep(moment)
    } else {
        runtime.block_on(async { time::sleep(moment).await })
    }
    end(runtime, random.below(3), record);
}

fn end(runtime: runtime::Runtime, kind: u64, record: &Record) {
    match kind {
        0 => runtime.shutdown_timeout(Duration::from_secs(600)),
        1 => return runtime.shutdown_background(),
        _ => drop(runtime),
    }
    assert_eq!(record.holders(), 1, "all futures are dropped before the end returns");
}

/// The usual loop of a server.
async fn serve(mut random: Random, record: Record) {
    loop {
        let Some(listener) = record.note(net::TcpListener::bind("127.0.0.1:0").await) else { continue };
        let address = listener.local_addr().expect("bound");
        let calls = 1 + random.below(3);
        for _ in 0..calls {
            task::spawn(record.watch(call(address, record.clone())));
        }
        for _ in 0..calls {
            let Some((connection, _)) = record.note(listener.accept().await) else { continue };
            task::spawn(record.watch(echo(connection, record.clone())));
        }
    }
}

async fn call(address: SocketAddr, record: Record) {
    loop {
        let Some(mut connection) = record.note(net::TcpStream::connect(address).await) else { return };
        let mut answer = [0; 4];
        for _ in 0..3 {
            record.note(connection.write_all(b"ping").await);
            record.note(connection.read_exact(&mut answer).await);
        }
    }
}

async fn echo(mut connection: net::TcpStream, record: Record) {
    let mut buffer = [0; 64];
    while let Some(length @ 1..) = record.note(connection.read(&mut buffer).await) {
        record.note(connection.write_all(&buffer[..length]).await);
    }
}

/// Connects to a listener that never accepts.
async fn connect(_: Random, record: Record) {
    let full = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = full.local_addr().expect("bound");
    loop {
        record.note(net::TcpStream::connect(address).await);
    }
}

async fn sleep(mut random: Random, _: Record) {
    loop {
        let shorter = time::sleep(Duration::from_micros(random.below(2_000)));
        let longer = time::timeout(Duration::from_micros(random.below(2_000)), shorter);
        let _ = longer.await;
    }
}

async fn receive(_: Random, record: Record) {
    loop {
        let Some(socket) = record.note(net::UdpSocket::bind("127.0.0.1:0").await) else { continue };
        let address = socket.local_addr().expect("bound");
        record.note(socket.send_to(b"to myself", address).await);
        record.note(socket.recv_from(&mut [0; 16]).await);
        record.note(socket.recv_from(&mut [0; 16]).await);
    }
}

/// Spawns tasks of short life, and awaits some of them.
async fn spawn(mut random: Random, record: Record) {
    loop {
        let steps = random.below(3);
        let child = task::spawn(record.watch(async move {
            for _ in 0..steps {
                task::yield_now().await;
            }
        }));
        if random.below(2) == 0 {
            let _ = child.await;
        }
        task::yield_now().await;
    }
}

async fn pass_on(_: Random, record: Record) {
    let (send, mut receive) = mpsc::channel(1);
    let (back, mut is_back) = mpsc::channel(1);
    task::spawn(record.watch(async move {
        while let Some(item) = receive.recv().await {
            let _ = back.send(item).await;
        }
    }));
    for item in 0_u64.. {
        let _ = send.send(item).await;
        let _ = is_back.recv().await;
        task::yield_now().await;
    }
}

async fn listen_for_signals(_: Random, record: Record) {
    let user_defined = signal::unix::SignalKind::user_defined1();
    loop {
        let Some(mut signals) = record.note(signal::unix::signal(user_defined)) else { continue };
        if signals.recv().await.is_none() {
            record.note_end("the signal driver gone".to_owned());
        }
    }
}

async fn wait_for_children(mut random: Random, record: Record) {
    loop {
        let mut command = process::Command::new("sleep");
        command.arg(if random.below(2) == 0 { "0" } else { "100" }).kill_on_drop(true);
        let Some(mut child) = record.note(command.spawn()) else { continue };
        record.note(child.wait().await);
    }
}

/// Ignores errors: they are those of cancelled closures, which a task may see on tokio, too.
async fn use_files(_: Random, _: Record) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    loop {
        let _ = fs::write(&path, "some text").await;
        let _ = fs::read(&path).await;
        if let Ok(mut file) = fs::File::create(&path).await {
            let _ = file.write_all(b"some other text").await;
            let _ = file.flush().await;
        }
    }
}

async fn print(_: Random, _: Record) {
    loop {
        let _ = stderr().write_all(b"").await;
        let _ = stderr().flush().await;
        task::yield_now().await;
    }
}

async fn call_closures(mut random: Random, _: Record) {
    loop {
        let length = Duration::from_micros(random.below(200));
        let _ = task::spawn_blocking(move || thread::sleep(length)).await;
    }
}

/// Holds its thread for a while, sleeping or busy.
async fn hold_up(mut random: Random, _: Record) {
    loop {
        let length = Duration::from_micros(random.below(500));
        match random.below(2) {
            0 => thread::sleep(length),
            _ => drop(std::io::sink().write_all(&vec![0; length.as_micros() as usize * 100])),
        }
        task::yield_now().await;
    }
}
