//! What tokio's types are, ours are: programs rely on it in bounds.

use std::panic::{RefUnwindSafe, UnwindSafe};

use gmp_io::io::{AsyncRead, AsyncWrite, Interest, Ready};
use gmp_io::net::tcp::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
use gmp_io::net::{TcpListener, TcpSocket, TcpStream};
use gmp_io::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use gmp_io::signal::unix::{Signal, SignalKind};

fn is_common<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
fn is_send_sync_unpin<T: Send + Sync + Unpin>() {}
fn is_send_sync<T: Send + Sync>(_: T) {}
fn reads<T: AsyncRead>() {}
fn writes<T: AsyncWrite>() {}

#[test]
fn types_are_send_sync_unpin_and_unwind_safe() {
    is_common::<TcpListener>();
    is_common::<TcpSocket>();
    is_common::<TcpStream>();
    is_common::<ReadHalf<'_>>();
    is_common::<WriteHalf<'_>>();
    is_common::<OwnedReadHalf>();
    is_common::<OwnedWriteHalf>();
    is_common::<ReuniteError>();
    is_common::<Interest>();
    is_common::<Ready>();
    is_common::<ChildStdin>();
    is_common::<ChildStdout>();
    is_common::<ChildStderr>();
    is_common::<SignalKind>();
    is_send_sync_unpin::<Command>();
    is_send_sync_unpin::<Child>();
    is_send_sync_unpin::<Signal>();
}

#[test]
fn halves_read_or_write() {
    reads::<TcpStream>();
    writes::<TcpStream>();
    reads::<ReadHalf<'_>>();
    reads::<OwnedReadHalf>();
    writes::<WriteHalf<'_>>();
    writes::<OwnedWriteHalf>();
    writes::<ChildStdin>();
    reads::<ChildStdout>();
    reads::<ChildStderr>();
}

#[test]
fn futures_are_send_and_sync() {
    // Never polled: the compiler's answer is the test.
    is_send_sync(TcpListener::bind("127.0.0.1:0"));
    is_send_sync(TcpStream::connect("127.0.0.1:1"));
    is_send_sync(async |listener: &TcpListener| listener.accept().await.map(drop));
    let _ = |stream: TcpStream, listener: TcpListener| {
        is_send_sync(stream.readable());
        is_send_sync(stream.ready(Interest::READABLE));
        is_send_sync(stream.async_io(Interest::READABLE, || Ok(())));
        is_send_sync(listener.accept());
    };
    is_send_sync(gmp_io::signal::ctrl_c());
    is_send_sync(async |signal: &mut Signal| signal.recv().await);
    let _ = |mut command: Command, mut child: Child| {
        is_send_sync(command.status());
        is_send_sync(command.output());
        is_send_sync(child.wait());
        is_send_sync(child.kill());
        is_send_sync(child.wait_with_output());
    };
}
