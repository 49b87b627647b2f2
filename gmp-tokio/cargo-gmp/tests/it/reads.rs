//! Reads that are dropped after they have taken bytes are counted by the places of their calls.

use std::process::Command;

use crate::asked::Running;
use crate::support::{program, shared, shared_target as target, succeeds};

/// A read of each kind is dropped with the bytes `ab`; those that have taken nothing, or are over, are
/// not counted. `ends_early` compiles only if a read that is over borrows nothing any more.
const MAIN: &str = r#"use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, copy, copy_bidirectional, duplex};

async fn drop_waiting<F: Future>(read: F) {
    let mut read = pin!(read);
    poll_fn(|cx| Poll::Ready(assert!(read.as_mut().poll(cx).is_pending()))).await;
}

async fn stream(text: &str) -> (DuplexStream, DuplexStream) {
    let (mut writer, reader) = duplex(64);
    writer.write_all(text.as_bytes()).await.unwrap();
    (writer, reader)
}

async fn ends_early() {
    let (_writer, mut reader) = stream("abcd").await;
    let mut buffer = [0; 4];
    let mut read = pin!(reader.read_exact(&mut buffer));
    Pin::as_mut(&mut read).await.unwrap();
    assert_eq!(&buffer, b"abcd");
}

#[tokio::main]
async fn main() {
    ends_early().await;
    let (_writer, mut reader) = stream("ab").await;
    drop_waiting(reader.read_exact(&mut [0; 4])).await;
    drop_waiting(reader.read_exact(&mut [0; 4])).await;
    let (_writer, mut reader) = stream("ab").await;
    drop_waiting(reader.read_u32()).await;
    let (_writer, reader) = stream("ab").await;
    drop_waiting(BufReader::new(reader).read_until(b'\n', &mut Vec::new())).await;
    let (_writer, reader) = stream("ab").await;
    drop_waiting(BufReader::new(reader).read_line(&mut String::new())).await;
    let ((_writer, mut reader), (mut full, _other)) = (stream("ab").await, duplex(1));
    full.write_u8(0).await.unwrap();
    drop_waiting(copy(&mut reader, &mut full)).await;
    let ((_writer, mut reader), (mut full, _other)) = (stream("ab").await, duplex(1));
    full.write_u8(0).await.unwrap();
    drop_waiting(copy_bidirectional(&mut reader, &mut full)).await;
    println!("ready");
    std::future::pending().await
}
"#;

/// Function, line and the number of drops.
const EXPECTED: [(&str, u32); 6] = [
    ("read_exact", 29),
    ("read_u16 or the like", 32),
    ("read_until", 34),
    ("read_line", 36),
    ("copy", 39),
    ("copy", 42),
];

#[test]
fn each_kind_of_read_is_told_with_its_line() {
    let project = program("reads", MAIN);
    succeeds(&mut shared(project.gmp("build --quiet")));
    let running = Running::start("", &mut Command::new(target().join("gmp/debug/reads")));
    let answer = succeeds(&mut project.gmp(&format!("tasks {}", running.id())));
    let (_, reads) = answer.split_once("reads that were dropped after they had taken bytes:\n").unwrap();
    let expected: Vec<String> = EXPECTED
        .iter()
        .map(|(name, line)| format!("  dropped 1x, with 2 bytes: {name} called at src/main.rs:{line}"))
        .collect();
    let mut lines: Vec<&str> = reads.lines().collect();
    lines.sort_by_key(|line| line.rsplit(':').next().unwrap().parse::<u32>().unwrap());
    assert_eq!(lines, expected);
}
