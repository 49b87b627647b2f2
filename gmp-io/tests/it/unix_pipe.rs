//! Pipes and FIFOs.

use std::fs::File;
use std::future::{Future, poll_fn};
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::pin::pin;

use futures::FutureExt;
use gmp_exec::task::coop::has_budget_remaining;
use gmp_exec::task::yield_now;
use gmp_io::io::Interest;
use gmp_io::net::unix::pipe::{OpenOptions, Receiver, Sender, pipe};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::on_both;

fn fifo() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("fifo");
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
    (directory, path)
}

fn receiver(path: &Path) -> Receiver {
    OpenOptions::new().open_receiver(path).expect("a receiver")
}

fn sender(path: &Path) -> Sender {
    OpenOptions::new().open_sender(path).expect("a sender")
}

#[test]
fn what_is_sent_is_received() {
    on_both(|| async {
        const LENGTH: usize = 4 << 20;
        let (mut sender, mut receiver) = pipe().expect("a pipe");
        let sent: Vec<u8> = (0..LENGTH).map(|i| (i * 31 / 8) as u8).collect();
        let expected = sent.clone();
        let writer = gmp_exec::spawn(async move {
            sender.write_all(&sent).await.expect("written");
            sender.flush().await.expect("flushed");
            sender.shutdown().await.expect("does nothing");
            sender.write_all(b"!").await.expect("still open");
        });
        let mut received = Vec::new();
        receiver.read_to_end(&mut received).await.expect("read");
        writer.await.expect("the writer");
        assert_eq!(received.pop(), Some(b'!'));
        assert!(received == expected);
    });
}

#[test]
fn without_a_receiver_writing_fails() {
    on_both(|| async {
        let (mut sender, receiver) = pipe().expect("a pipe");
        let waiting = async {
            while sender.write_all(&[0; 4096]).await.is_ok() {}
            sender
        };
        let (sender, ()) = tokio::join!(waiting, async {
            yield_now().await;
            drop(receiver);
        });
        assert_eq!(sender.try_write(b"x").expect_err("no reader").kind(), ErrorKind::BrokenPipe);
        // Known to be closed a moment later, when the event has arrived.
        while !sender.ready(Interest::WRITABLE).await.expect("ready").is_write_closed() {
            yield_now().await;
        }
    });
}

/// A write may be short for another reason than a full pipe, and then no event would come.
#[test]
fn a_short_write_does_not_mean_a_full_pipe() {
    on_both(|| async {
        let (mut sender, _receiver) = pipe().expect("a pipe");
        let most = 1 << 20;
        let n = sender.write(&vec![0; most]).await.expect("written");
        assert!(n < most, "longer than a pipe");
        assert!(sender.writable().now_or_never().is_some(), "so it is tried");
        assert_eq!(sender.try_write(b"x").expect_err("full, as it happens").kind(), ErrorKind::WouldBlock);
        assert!(sender.writable().now_or_never().is_none());
    });
}

#[test]
fn a_receiver_that_waits_is_woken_when_the_sender_is_gone() {
    on_both(|| async {
        let (sender, mut receiver) = pipe().expect("a pipe");
        let reader = gmp_exec::spawn(async move { receiver.read(&mut [0; 4]).await });
        yield_now().await;
        drop(sender);
        assert_eq!(reader.await.expect("the reader").expect("the end"), 0);
    });
}

#[test]
fn trying_does_not_wait() {
    on_both(|| async {
        let (sender, receiver) = pipe().expect("a pipe");
        let would_block = |result: std::io::Result<usize>| {
            assert_eq!(result.expect_err("not ready").kind(), ErrorKind::WouldBlock);
        };
        would_block(receiver.try_read(&mut [0; 4]));
        would_block(receiver.try_read_vectored(&mut [IoSliceMut::new(&mut [0; 4])]));
        would_block(receiver.try_read_buf(&mut Vec::with_capacity(4)));
        would_block(receiver.try_io(|| panic!("not ready, so not run")));

        sender.writable().await.expect("writable");
        assert_eq!(sender.try_write(b"ab").expect("written"), 2);
        assert_eq!(sender.try_write_vectored(&[IoSlice::new(b"cd"), IoSlice::new(b"efg")]).expect("written"), 5);
        assert_eq!(sender.try_io(|| Ok(rustix::io::write(&sender, b"h")?)).expect("written"), 1);
        receiver.readable().await.expect("readable");
        let mut received = [0; 4];
        assert_eq!(receiver.try_read(&mut received[..1]).expect("read"), 1);
        assert_eq!(receiver.try_read_vectored(&mut [IoSliceMut::new(&mut received[1..3])]).expect("read"), 2);
        let mut spare = Vec::with_capacity(4);
        assert_eq!(receiver.try_read_buf(&mut spare).expect("read"), 4);
        assert_eq!(receiver.try_io(|| Ok(rustix::io::read(&receiver, &mut received[3..])?)).expect("read"), 1);
        assert_eq!((&received, spare.as_slice()), (b"abch", &b"defg"[..]));
        would_block(receiver.try_read(&mut received));

        while sender.try_write(&[0; 4096]).is_ok() {}
        would_block(sender.try_write(&[0; 4096]));
        would_block(sender.try_io(|| panic!("not ready, so not run")));
    });
}

#[test]
fn readiness_polled_for_wakes_the_task() {
    on_both(|| async {
        let (sender, receiver) = pipe().expect("a pipe");
        let reader = gmp_exec::spawn(async move {
            poll_fn(|cx| receiver.poll_read_ready(cx)).await.expect("readable");
            receiver.try_read(&mut [0; 4])
        });
        yield_now().await;
        poll_fn(|cx| sender.poll_write_ready(cx)).await.expect("writable");
        sender.try_write(b"x").expect("written");
        assert_eq!(reader.await.expect("the reader").expect("read"), 1);
    });
}

#[test]
fn a_cancelled_read_loses_nothing() {
    on_both(|| async {
        let (mut sender, mut receiver) = pipe().expect("a pipe");
        for _ in 0..100 {
            assert!(receiver.read(&mut [0; 4]).now_or_never().is_none());
            sender.write_all(b"x").await.expect("written");
            assert_eq!(receiver.read(&mut [0; 4]).await.expect("read"), 1);
        }
    });
}

#[test]
fn a_fifo_is_opened_by_its_path() {
    on_both(|| async {
        let (_directory, path) = fifo();
        let error = OpenOptions::new().open_sender(&path).expect_err("no reader");
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NXIO.raw_os_error()));
        let mut receiver = receiver(&path);
        let mut sender = sender(&path);
        sender.write_all(b"hello").await.expect("written");
        drop(sender);
        let mut received = String::new();
        receiver.read_to_string(&mut received).await.expect("read");
        assert_eq!(received, "hello");
    });
}

#[test]
#[cfg(any(target_os = "linux", target_os = "android"))]
fn a_fifo_opened_both_ways_needs_no_peer() {
    on_both(|| async {
        let (_directory, path) = fifo();
        let mut sender = OpenOptions::new().read_write(true).open_sender(&path).expect("a sender");
        sender.write_all(b"first").await.expect("written");
        let mut receiver = OpenOptions::new().read_write(true).open_receiver(&path).expect("a receiver");
        let mut received = [0; 5];
        receiver.read_exact(&mut received).await.expect("read");
        drop(sender);
        assert!(receiver.read(&mut received).now_or_never().is_none(), "it is a sender itself");
    });
}

/// After the end of the stream another sender may open the FIFO. A receiver that reads on waits for
/// its data, and is woken only when there is something.
#[test]
fn a_fifo_that_is_opened_again_is_waited_for_quietly() {
    on_both(|| async {
        let (_directory, path) = fifo();
        let mut receiver = receiver(&path);
        for round in 0..3 {
            let mut first = sender(&path);
            first.write_all(b"x").await.expect("written");
            assert_eq!(receiver.read(&mut [0; 4]).await.expect("read"), 1, "round {round}");
            drop(first);
            assert_eq!(receiver.read(&mut [0; 4]).await.expect("read"), 0, "the end, in round {round}");
            while !receiver.ready(Interest::READABLE).await.expect("ready").is_read_closed() {
                yield_now().await;
            }

            let mut second = sender(&path);
            let mut buf = [0; 4];
            let mut reading = pin!(receiver.read(&mut buf));
            // Trying again and again would use up the budget of the first poll.
            let quietly = poll_fn(|cx| {
                let poll = reading.as_mut().poll(cx);
                assert!(has_budget_remaining());
                poll
            });
            let write = async {
                for _ in 0..10 {
                    yield_now().await;
                }
                second.write_all(b"yz").await.expect("written");
            };
            let (read, ()) = tokio::join!(quietly, write);
            assert_eq!(read.expect("read"), 2);
            drop(second);
            assert_eq!(receiver.read(&mut [0; 4]).await.expect("read"), 0);
        }
    });
}

#[test]
fn what_is_no_pipe_is_refused() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        File::create(&path).expect("a file");
        let open = || File::options().read(true).write(true).open(&path).expect("a file");
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let errors = [
            OpenOptions::new().open_receiver(&path).map(drop),
            OpenOptions::new().open_sender(&path).map(drop),
            Receiver::from_file(open()).map(drop),
            Sender::from_owned_fd(open().into()).map(drop),
            Sender::from_owned_fd(socket.into()).map(drop),
        ];
        for result in errors {
            let error = result.expect_err("no pipe");
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidInput, "not a pipe"));
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn an_unchecked_regular_file_cannot_be_waited_for() {
    on_both(|| async {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        File::create(&path).expect("a file");
        let error = OpenOptions::new().unchecked(true).open_receiver(&path).expect_err("a regular file");
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        let error = Sender::from_file_unchecked(File::options().write(true).open(&path).expect("a file"));
        assert_eq!(error.expect_err("a regular file").kind(), ErrorKind::PermissionDenied);
    });
}

#[test]
fn the_wrong_end_is_refused() {
    on_both(|| async {
        let ends = || {
            let (sender, receiver) = pipe().expect("a pipe");
            (sender.into_nonblocking_fd().expect("a descriptor"), receiver.into_nonblocking_fd().expect("a descriptor"))
        };
        let refused = |result: std::io::Result<()>, message: &str| {
            let error = result.expect_err("the wrong end");
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidInput, message));
        };
        let (writes, reads) = ends();
        refused(Sender::from_owned_fd(reads).map(drop), "not in O_WRONLY or O_RDWR access mode");
        refused(Receiver::from_owned_fd(writes).map(drop), "not in O_RDONLY or O_RDWR access mode");
        let (writes, reads) = ends();
        refused(Sender::from_file(reads.into()).map(drop), "not in O_WRONLY or O_RDWR access mode");
        refused(Receiver::from_file(writes.into()).map(drop), "not in O_RDONLY or O_RDWR access mode");
    });
}

#[test]
fn descriptors_go_out_and_come_in() {
    on_both(|| async {
        let is_nonblocking = |fd: &OwnedFd| fcntl_getfl(fd).expect("flags").contains(OFlags::NONBLOCK);
        let (sender, receiver) = pipe().expect("a pipe");
        let number = sender.as_raw_fd();
        assert_eq!(sender.as_fd().as_raw_fd(), number);
        let (writes, reads) =
            (sender.into_blocking_fd().expect("a descriptor"), receiver.into_nonblocking_fd().expect("a descriptor"));
        assert_eq!(writes.as_raw_fd(), number);
        assert!(!is_nonblocking(&writes) && is_nonblocking(&reads));
        let mut writes = File::from(writes);
        writes.write_all(b"a").expect("written");

        let mut sender = Sender::from_file(writes).expect("registered again, and non-blocking");
        let mut receiver = Receiver::from_owned_fd_unchecked(reads).expect("registered again");
        sender.write_all(b"b").await.expect("written");
        let mut received = [0; 2];
        receiver.read_exact(&mut received).await.expect("read");
        assert_eq!(&received, b"ab");
        assert!(is_nonblocking(&sender.into_nonblocking_fd().expect("a descriptor")));
        let mut reads = File::from(receiver.into_blocking_fd().expect("a descriptor"));
        assert_eq!(reads.read(&mut received).expect("the end"), 0);
    });
}

#[test]
fn a_child_reads_what_a_task_writes() {
    on_both(|| async {
        let (mut sender, receiver) = pipe().expect("a pipe");
        let (answer_sender, mut answer) = pipe().expect("a pipe");
        let mut child = std::process::Command::new("cat")
            .stdin(receiver.into_blocking_fd().expect("a descriptor"))
            .stdout(answer_sender.into_blocking_fd().expect("a descriptor"))
            .spawn()
            .expect("a child");
        sender.write_all(b"through the cat").await.expect("written");
        drop(sender);
        let mut received = String::new();
        answer.read_to_string(&mut received).await.expect("read");
        assert_eq!(received, "through the cat");
        assert!(child.wait().expect("ended").success());
    });
}
