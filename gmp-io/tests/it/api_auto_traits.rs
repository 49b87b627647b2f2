//! The types have the auto traits that tokio's have: programs rely on them in bounds.

use std::os::fd::OwnedFd;
use std::panic::{RefUnwindSafe, UnwindSafe};

use gmp_io::fs;
use gmp_io::io::unix::{AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, AsyncFdRegisterError, TryIoError};
use gmp_io::io::{AsyncRead, AsyncWrite, Interest, Ready};
use gmp_io::net::tcp::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
use gmp_io::net::unix::{self, pipe};
use gmp_io::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream};
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
    is_common::<UdpSocket>();
    is_common::<AsyncFd<OwnedFd>>();
    is_common::<AsyncFdReadyGuard<'_, OwnedFd>>();
    is_send_sync_unpin::<AsyncFdReadyMutGuard<'_, OwnedFd>>();
    is_send_sync_unpin::<AsyncFdRegisterError<OwnedFd>>();
    is_common::<TryIoError>();
    is_common::<UnixDatagram>();
    is_common::<UnixListener>();
    is_common::<UnixSocket>();
    is_common::<UnixStream>();
    is_common::<unix::ReadHalf<'_>>();
    is_common::<unix::WriteHalf<'_>>();
    is_common::<unix::OwnedReadHalf>();
    is_common::<unix::OwnedWriteHalf>();
    is_common::<unix::ReuniteError>();
    is_common::<unix::SocketAddr>();
    is_common::<unix::UCred>();
    is_common::<pipe::OpenOptions>();
    is_common::<pipe::Sender>();
    is_common::<pipe::Receiver>();
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
fn files_are_send_sync_and_unpin() {
    fn are<T: Send + Sync + Unpin>() {}
    are::<fs::File>();
    are::<fs::OpenOptions>();
    are::<fs::FileTimes>();
    are::<fs::DirBuilder>();
    are::<fs::DirEntry>();
    are::<fs::ReadDir>();
}

#[test]
fn halves_read_or_write() {
    reads::<TcpStream>();
    writes::<TcpStream>();
    reads::<ReadHalf<'_>>();
    reads::<OwnedReadHalf>();
    writes::<WriteHalf<'_>>();
    writes::<OwnedWriteHalf>();
    reads::<UnixStream>();
    writes::<UnixStream>();
    reads::<unix::ReadHalf<'_>>();
    reads::<unix::OwnedReadHalf>();
    writes::<unix::WriteHalf<'_>>();
    writes::<unix::OwnedWriteHalf>();
    reads::<pipe::Receiver>();
    writes::<pipe::Sender>();
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
    is_send_sync(fs::read("/"));
    is_send_sync(fs::read_to_string("/"));
    is_send_sync(fs::metadata("/"));
    is_send_sync(fs::rename("/", "/"));
    is_send_sync(fs::write("/", ""));
    is_send_sync(fs::File::open("/"));
    let _ = |file: fs::File, mut entries: fs::ReadDir| {
        is_send_sync(file.sync_all());
        is_send_sync(file.set_len(0));
        is_send_sync(file.metadata());
        is_send_sync(entries.next_entry());
        is_send_sync(file.into_std());
    };
    let _ = |stream: TcpStream, listener: TcpListener| {
        is_send_sync(stream.readable());
        is_send_sync(stream.ready(Interest::READABLE));
        is_send_sync(stream.async_io(Interest::READABLE, || Ok(())));
        is_send_sync(listener.accept());
    };
    is_send_sync(UdpSocket::bind("127.0.0.1:0"));
    let _ = |socket: UdpSocket, mut fd: AsyncFd<OwnedFd>| {
        is_send_sync(socket.connect("127.0.0.1:1"));
        is_send_sync(socket.send_to(b"", "127.0.0.1:1"));
        is_send_sync(socket.recv_from(&mut []));
        is_send_sync(socket.recv_buf_from(&mut Vec::new()));
        is_send_sync(fd.readable());
        is_send_sync(fd.writable_mut());
        is_send_sync(fd.async_io(Interest::READABLE, |_| Ok(())));
        is_send_sync(fd.async_io_mut(Interest::READABLE, |_| Ok(())));
    };
    is_send_sync(UnixStream::connect("/nowhere"));
    let _ = |datagram: UnixDatagram, listener: UnixListener| {
        is_send_sync(datagram.send_to(b"", "/nowhere"));
        is_send_sync(datagram.recv_from(&mut []));
        is_send_sync(datagram.recv_buf(&mut Vec::new()));
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
