//! tokio-util: codecs over sockets, bridges between readers and streams, and its additions to
//! tokio's `sync`.
//!
//! `time::DelayQueue`, `task::JoinMap` and `io::SyncIoBridge` belong to tokio's runtime and need
//! the drop-in.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::{SinkExt, StreamExt, TryStreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::codec::{Decoder, Encoder, Framed, FramedRead, LengthDelimitedCodec, LinesCodec, LinesCodecError};
use tokio_util::io::{InspectReader, ReaderStream, StreamReader};
use tokio_util::sync::{CancellationToken, PollSender};

use crate::support::{on_gmp, pair};

#[test]
fn frames_of_many_sizes_go_there_and_back() {
    on_gmp(|| async {
        let (near, far) = pair().await;
        let echo = gmp_exec::spawn(async move {
            let (sink, stream) = Framed::new(far, LengthDelimitedCodec::new()).split();
            stream.map_ok(BytesMut::freeze).forward(sink).await.expect("echoed");
        });
        let frames: Vec<_> = (0..18).map(|power| Bytes::from(vec![power as u8; (1 << power) - 1])).collect();
        let (mut sink, stream) = Framed::new(near, LengthDelimitedCodec::new()).split();
        let sent = frames.clone();
        let sender = gmp_exec::spawn(async move {
            for frame in sent {
                sink.feed(frame).await.expect("fed");
            }
            sink.close().await.expect("closed");
        });
        let received: Vec<_> = stream.map_ok(BytesMut::freeze).try_collect().await.expect("frames");
        assert_eq!(received, frames);
        sender.await.expect("a sender");
        echo.await.expect("an echo");
    });
}

#[test]
fn lines_are_cut_wherever_they_arrive_in_pieces() {
    on_gmp(|| async {
        let (mut near, far) = pair().await;
        gmp_exec::spawn(async move {
            for piece in ["one\ntw", "o\r\n", "", "three", " is far too long\nfour"] {
                near.write_all(piece.as_bytes()).await.expect("written");
                gmp_exec::task::yield_now().await;
            }
        });
        let mut lines = FramedRead::new(far, LinesCodec::new_with_max_length(8));
        assert_eq!(lines.next().await.expect("a line").expect("text"), "one");
        assert_eq!(lines.next().await.expect("a line").expect("text"), "two");
        let error = lines.next().await.expect("a line").expect_err("too long");
        assert!(matches!(error, LinesCodecError::MaxLineLengthExceeded), "{error}");
    });
}

/// A codec defined by the test: a byte with the number of the numbers that follow.
struct Numbers;

impl Encoder<Vec<u16>> for Numbers {
    type Error = io::Error;

    fn encode(&mut self, numbers: Vec<u16>, buffer: &mut BytesMut) -> io::Result<()> {
        buffer.put_u8(numbers.len().try_into().map_err(|_| io::ErrorKind::InvalidInput)?);
        numbers.into_iter().for_each(|number| buffer.put_u16(number));
        Ok(())
    }
}

impl Decoder for Numbers {
    type Item = Vec<u16>;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Vec<u16>>> {
        let Some(&count) = buffer.first() else { return Ok(None) };
        if buffer.len() < 1 + 2 * usize::from(count) {
            return Ok(None);
        }
        buffer.advance(1);
        Ok(Some((0..count).map(|_| buffer.get_u16()).collect()))
    }
}

#[test]
fn a_frame_that_is_cut_off_is_an_error() {
    on_gmp(|| async {
        let (near, far) = pair().await;
        let mut near = Framed::new(near, Numbers);
        let mut far = Framed::new(far, Numbers);
        near.send(vec![1, 2, 500]).await.expect("sent");
        assert_eq!(far.next().await.expect("a frame").expect("numbers"), [1, 2, 500]);

        let mut near = near.into_inner();
        near.write_all(&[3, 0, 1]).await.expect("written");
        drop(near);
        far.next().await.expect("something is left").expect_err("it is not a frame");
    });
}

#[test]
fn readers_and_streams_turn_into_each_other() {
    on_gmp(|| async {
        let (mut near, far) = pair().await;
        let message = "0123456789".repeat(20_000);
        let sent = message.clone();
        gmp_exec::spawn(async move { near.write_all(sent.as_bytes()).await });

        let mut passed_by = 0;
        let reader = InspectReader::new(far, |bytes: &[u8]| passed_by += bytes.len());
        let mut again = StreamReader::new(ReaderStream::new(reader));
        let mut received = String::new();
        again.read_to_string(&mut received).await.expect("read");
        drop(again);
        assert!(received == message, "{} bytes differ", received.len());
        assert_eq!(passed_by, message.len());
    });
}

/// Readers that would never end do so when their token is cancelled; cancelling a child does not
/// cancel its parent.
#[test]
fn a_token_cancels_what_waits_on_sockets() {
    on_gmp(|| async {
        let root = CancellationToken::new();
        let mut readers = Vec::new();
        let mut peers = Vec::new();
        let first_child = root.child_token();
        for token in [first_child.clone(), root.child_token(), root.clone()] {
            let (mut near, far) = pair().await;
            peers.push(far);
            readers.push(gmp_exec::spawn(async move { token.run_until_cancelled(near.read_u8()).await.is_none() }));
        }
        first_child.cancel();
        assert!(readers.remove(0).await.expect("a reader"));
        assert!(!root.is_cancelled());
        root.cancel();
        for reader in readers {
            assert!(reader.await.expect("a reader"));
        }
    });
}

#[test]
fn a_channel_is_a_sink_with_backpressure() {
    on_gmp(|| async {
        let (sender, mut numbers) = mpsc::channel(1);
        let mut sink = PollSender::new(sender);
        let feeder = gmp_exec::spawn(async move {
            for number in 0..100 {
                sink.send(number).await.expect("sent");
            }
        });
        for expected in 0..100 {
            assert_eq!(numbers.recv().await, Some(expected));
        }
        assert_eq!(numbers.recv().await, None);
        feeder.await.expect("a feeder");
    });
}
