//! Small programs that use standard input and output; `tests/stdio.rs` runs them.
//!
//! ```text
//! stdio cat                copies its input to its output
//! stdio give-up-reading    waits 50 ms for input, reports that and ends
//! stdio cancel-reads       copies its input, cancelling each read several times
//! stdio give-up-writing    writes until there has been no room for 50 ms; prints the number of
//!                          bytes to standard error
//! stdio flood N            writes N bytes and ends, without a flush
//! stdio turns N            writes N bytes; prints how often another task ran meanwhile to
//!                          standard error
//! ```

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use std::{io, thread};

use gmp_exec::runtime::Builder;
use gmp_exec::task::yield_now;
use gmp_exec::time::timeout;
use gmp_io::io::{stderr, stdin, stdout};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PATIENCE: Duration = Duration::from_millis(50);

#[gmp_exec::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["cat"] => cat().await,
        ["give-up-reading"] => give_up_reading().await,
        ["cancel-reads"] => cancel_reads().await,
        ["give-up-writing"] => give_up_writing().await,
        ["flood", bytes] => flood(bytes).await,
        ["turns", bytes] => turns(bytes).await,
        _ => Err(io::Error::other(format!(
            "{arguments:?}: allowed are cat, give-up-reading, cancel-reads, give-up-writing, flood N and turns N"
        ))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stdio: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn cat() -> io::Result<()> {
    tokio::io::copy(&mut stdin(), &mut stdout()).await?;
    stdout().flush().await
}

async fn give_up_reading() -> io::Result<()> {
    match timeout(PATIENCE, stdin().read_u8()).await {
        Ok(_) => stdout().write_all(b"something came\n").await,
        Err(_) => stdout().write_all(b"nothing came\n").await,
    }
}

/// Each read is dropped after a few polls and started again, through a new handle.
async fn cancel_reads() -> io::Result<()> {
    let mut stdout = stdout();
    loop {
        let mut buf = [0; 7];
        let mut handle = stdin();
        let n = tokio::select! {
            biased;
            n = handle.read(&mut buf) => n?,
            () = yield_now() => continue,
        };
        if n == 0 {
            return stdout.flush().await;
        }
        stdout.write_all(&buf[..n]).await?;
    }
}

async fn give_up_writing() -> io::Result<()> {
    let mut written = 0;
    let mut stdout = stdout();
    while let Ok(n) = timeout(PATIENCE, stdout.write(&[b'x'; 10_000])).await {
        written += n?;
    }
    stderr().write_all(format!("{written}\n").as_bytes()).await
}

async fn flood(bytes: &str) -> io::Result<()> {
    stdout().write_all(&lines(bytes)?).await
}

/// On one thread, so that the other task only runs between two polls of the writing one.
async fn turns(bytes: &str) -> io::Result<()> {
    let lines = lines(bytes)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let writing = thread::spawn(move || {
        runtime.block_on(async {
            let turns = Arc::new(AtomicUsize::new(0));
            let counter = turns.clone();
            gmp_exec::spawn(async move {
                loop {
                    counter.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            });
            stdout().write_all(&lines).await.map(|()| turns.load(SeqCst))
        })
    });
    let turns = writing.join().expect("no panic")?;
    stderr().write_all(format!("{turns}\n").as_bytes()).await
}

fn lines(bytes: &str) -> io::Result<Vec<u8>> {
    let bytes = bytes.parse().map_err(|error| io::Error::other(format!("flood {bytes:?}: {error}")))?;
    Ok((0..=255).cycle().take(bytes).collect())
}
