//! Tests that every stream of bytes between two ends must pass.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes go both ways, followed by the end of the stream.
pub(crate) async fn carries_both_ways<S: AsyncRead + AsyncWrite + Unpin>((mut client, mut server): (S, S)) {
    client.write_all(b"ping").await.expect("written");
    let mut received = [0; 4];
    server.read_exact(&mut received).await.expect("read");
    assert_eq!(&received, b"ping");
    server.write_all(b"pong").await.expect("written");
    drop(server);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.expect("read");
    assert_eq!(rest, b"pong");
}

/// More than the buffers of both sockets hold, so that both sides wait again and again.
pub(crate) async fn carries_megabytes_in_order<S>((mut client, mut server): (S, S))
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    const LENGTH: usize = 8 << 20;
    let sent: Vec<u8> = (0..LENGTH).map(|i| (i * 31 / 8) as u8).collect();
    let expected = sent.clone();
    let writer = gmp_exec::spawn(async move {
        client.write_all(&sent).await.expect("written");
        client.shutdown().await.expect("closed");
    });
    let mut received = Vec::new();
    server.read_to_end(&mut received).await.expect("read");
    writer.await.expect("the writer");
    assert!(received == expected, "what was received differs from what was sent");
}
