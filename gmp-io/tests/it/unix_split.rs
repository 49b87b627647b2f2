//! The halves of a `UnixStream`.

use std::io::ErrorKind;

use gmp_io::io::Interest;
use gmp_io::net::UnixStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::on_both;

fn pair() -> (UnixStream, UnixStream) {
    UnixStream::pair().expect("a pair")
}

#[test]
fn borrowed_halves_work_at_the_same_time() {
    on_both(|| async {
        let (mut left, mut right) = pair();
        let echo = gmp_exec::spawn(async move {
            let (mut reader, mut writer) = right.split();
            tokio::io::copy(&mut reader, &mut writer).await
        });
        let (mut reader, mut writer) = left.split();
        let sent = vec![3; 1 << 20];
        let mut received = Vec::new();
        let write = async {
            writer.write_all(&sent).await?;
            writer.shutdown().await
        };
        // Dropping the half would not have closed the direction; the shutdown has.
        let (written, read) = tokio::join!(write, async {
            let mut chunk = vec![0; sent.len()];
            reader.read_exact(&mut chunk).await.map(|_| received.append(&mut chunk))
        });
        written.expect("written");
        read.expect("read");
        assert!(received == sent);
        assert_eq!(echo.await.expect("the echo").expect("copied"), sent.len() as u64);
    });
}

#[test]
fn owned_halves_go_to_different_tasks() {
    on_both(|| async {
        let (left, right) = pair();
        let (mut reader, mut writer) = right.into_split();
        let echo = gmp_exec::spawn(async move { tokio::io::copy(&mut reader, &mut writer).await });
        let (mut reader, mut writer) = left.into_split();
        let writing = gmp_exec::spawn(async move { writer.write_all(&vec![5; 1 << 20]).await });
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.expect("read");
        writing.await.expect("the writer").expect("written");
        assert!(received == vec![5; 1 << 20]);
        echo.await.expect("the echo").expect("copied");
    });
}

#[test]
fn dropping_the_owned_writing_half_closes_that_direction_only() {
    on_both(|| async {
        let (left, mut right) = pair();
        let (mut reader, writer) = left.into_split();
        drop(writer);
        assert_eq!(right.read(&mut [0; 4]).await.expect("read"), 0);
        right.write_all(b"still").await.expect("written");
        let mut received = [0; 5];
        reader.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"still");
    });
}

#[test]
fn a_forgotten_writing_half_leaves_its_direction_open() {
    on_both(|| async {
        let (left, right) = pair();
        let (reader, writer) = left.into_split();
        writer.forget();
        let error = right.try_read(&mut [0; 4]).expect_err("open, and nothing there");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        drop(reader);
        right.readable().await.expect("now it is closed");
        assert_eq!(right.try_read(&mut [0; 4]).expect("read"), 0);
    });
}

#[test]
fn halves_of_one_stream_are_reunited() {
    on_both(|| async {
        let (left, mut right) = pair();
        let (reader, writer) = left.into_split();
        let (reader, writer) = reader.reunite(writer).expect("they belong together").into_split();
        let mut left = writer.reunite(reader).expect("they belong together");
        left.write_all(b"whole").await.expect("written");
        let mut received = [0; 5];
        right.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"whole");
    });
}

#[test]
fn halves_of_two_streams_are_not() {
    on_both(|| async {
        let (left, right) = pair();
        let (reader, left_writer) = left.into_split();
        let (_right_reader, writer) = right.into_split();
        let error = reader.reunite(writer).expect_err("strangers");
        assert_eq!(error.to_string(), "tried to reunite halves that are not from the same socket");
        let gmp_io::net::unix::ReuniteError(reader, _writer) = error;
        reader.reunite(left_writer).expect("unharmed");
    });
}

#[test]
fn halves_have_the_methods_of_their_direction() {
    on_both(|| async {
        let (left, mut right) = pair();
        let (reader, writer) = right.split();
        left.try_write(b"abc").expect("written");
        reader.readable().await.expect("readable");
        assert!(reader.ready(Interest::READABLE).await.expect("ready").is_readable());
        assert_eq!(reader.try_read(&mut [0; 1]).expect("read"), 1);
        assert_eq!(reader.try_read_buf(&mut Vec::with_capacity(1)).expect("read"), 1);
        writer.writable().await.expect("writable");
        assert_eq!(writer.try_write(b"xy").expect("written"), 2);
        assert!(reader.peer_addr().expect("an address").is_unnamed());
        assert!(writer.local_addr().expect("an address").is_unnamed());
        assert!(writer.as_ref().take_error().expect("asked").is_none());
    });
}
