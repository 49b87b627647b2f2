//! The halves of a `TcpStream`.

use gmp_io::io::Interest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{on_both, pair, settle};

#[test]
fn borrowed_halves_work_at_the_same_time() {
    on_both(|| async {
        let (mut client, mut server) = pair().await;
        let echo = gmp_exec::spawn(async move {
            let (mut reader, mut writer) = server.split();
            tokio::io::copy(&mut reader, &mut writer).await
        });
        let (mut reader, mut writer) = client.split();
        let sent = vec![3; 1 << 20];
        let mut received = Vec::new();
        let (written, read) = tokio::join!(
            async {
                writer.write_all(&sent).await?;
                writer.shutdown().await
            },
            reader.read_to_end(&mut received),
        );
        written.expect("written");
        assert_eq!(read.expect("read"), sent.len());
        assert!(received == sent);
        assert_eq!(echo.await.expect("the echo").expect("copied"), sent.len() as u64);
    });
}

#[test]
fn owned_halves_go_to_different_tasks() {
    on_both(|| async {
        let (client, server) = pair().await;
        let (mut reader, mut writer) = server.into_split();
        let echo = gmp_exec::spawn(async move { tokio::io::copy(&mut reader, &mut writer).await });
        let (mut reader, mut writer) = client.into_split();
        let writing = gmp_exec::spawn(async move { writer.write_all(&vec![5; 1 << 20]).await });
        let reading = gmp_exec::spawn(async move {
            let mut received = Vec::new();
            reader.read_to_end(&mut received).await.map(|_| received)
        });
        writing.await.expect("the writer").expect("written");
        let received = reading.await.expect("the reader").expect("read");
        assert!(received == vec![5; 1 << 20]);
        echo.await.expect("the echo").expect("copied");
    });
}

#[test]
fn dropping_the_owned_writing_half_closes_that_direction_only() {
    on_both(|| async {
        let (client, mut server) = pair().await;
        let (mut reader, writer) = client.into_split();
        drop(writer);
        assert_eq!(server.read(&mut [0; 4]).await.expect("read"), 0);
        server.write_all(b"still").await.expect("written");
        let mut received = [0; 5];
        reader.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"still");
    });
}

#[test]
fn forgetting_the_owned_writing_half_leaves_the_direction_open() {
    on_both(|| async {
        let (client, server) = pair().await;
        let (_reader, writer) = client.into_split();
        writer.forget();
        // On one machine the end of the stream arrives before the call that sends it returns.
        settle(&server).await;
    });
}

#[test]
fn halves_of_one_connection_are_reunited() {
    on_both(|| async {
        let (client, mut server) = pair().await;
        let (reader, writer) = client.into_split();
        let client = writer.reunite(reader).expect("halves of one connection");
        let (reader, writer) = client.into_split();
        let mut client = reader.reunite(writer).expect("halves of one connection");
        client.write_all(b"whole").await.expect("the writing direction is still open");
        let mut received = [0; 5];
        server.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"whole");
    });
}

#[test]
fn halves_of_different_connections_are_given_back() {
    on_both(|| async {
        let (first, second) = pair().await;
        let (first_reader, _first_writer) = first.into_split();
        let (_second_reader, second_writer) = second.into_split();
        let address = second_writer.local_addr().expect("an address");
        let error = first_reader.reunite(second_writer).expect_err("different connections");
        assert_eq!(error.to_string(), "tried to reunite halves that are not from the same socket");
        assert_eq!(error.1.local_addr().expect("an address"), address);
    });
}

#[test]
fn halves_offer_what_the_stream_offers() {
    on_both(|| async {
        let (mut client, server) = pair().await;
        let address = client.local_addr().expect("an address");
        let (_, writer) = client.split();
        assert!(writer.ready(Interest::WRITABLE).await.expect("ready").is_writable());
        writer.writable().await.expect("writable");
        assert_eq!(writer.try_write(b"ping").expect("written"), 4);
        assert_eq!(writer.local_addr().expect("an address"), address);

        let (mut reader, _writer) = server.into_split();
        assert_eq!(reader.peer_addr().expect("an address"), address);
        let mut seen = [0; 2];
        assert_eq!(reader.peek(&mut seen).await.expect("peeked"), 2);
        reader.readable().await.expect("readable");
        let mut received = Vec::with_capacity(16);
        assert_eq!(reader.try_read_buf(&mut received).expect("read"), 4);
        assert_eq!(received, b"ping");
    });
}
