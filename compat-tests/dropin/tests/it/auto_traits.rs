//! Auto traits: a type that can be sent, shared, moved or caught on tokio can be here.
//! `JoinSetStream` needs `JoinSet<T>: Unpin`.

use std::cell::Cell;
use std::future::Future;
use std::marker::{PhantomData, PhantomPinned};
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::MutexGuard;
use std::task::{Context, Poll};

use tokio::{fs, io, net, process, runtime, signal, task, time};

/// A parameter that has to be a descriptor or a future.
struct Of<T>(T);

type Plain = Of<u8>;
type Unshared = Of<Cell<u8>>;
type Local = Of<Rc<u8>>;
type SharedOnly = Of<MutexGuard<'static, u8>>;
type Pinned = Of<PhantomPinned>;
type Mutable = Of<&'static mut u8>;

impl<T> AsRawFd for Of<T> {
    fn as_raw_fd(&self) -> RawFd {
        unreachable!("only the type is asked about")
    }
}

impl<T> Future for Of<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        unreachable!("only the type is asked about")
    }
}

/// Has a constant named after each auto trait. For a type with the trait, the compiler prefers the
/// inherent constant.
struct Probe<T>(PhantomData<T>);

macro_rules! probe {
    ($($constant:ident, $absent:ident: $auto_trait:ident;)+) => {
        $(
            trait $absent {
                const $constant: bool = false;
            }
            impl<T> $absent for Probe<T> {}
            impl<T: $auto_trait> Probe<T> {
                const $constant: bool = true;
            }
        )+
    };
}

probe! {
    SEND, NotSend: Send;
    SYNC, NotSync: Sync;
    UNPIN, NotUnpin: Unpin;
    UNWIND_SAFE, NotUnwindSafe: UnwindSafe;
    REF_UNWIND_SAFE, NotRefUnwindSafe: RefUnwindSafe;
}

/// The types, grouped by their auto traits on tokio 1.54.1: every type that belongs to tokio's
/// runtime, with every kind of parameter.
macro_rules! check {
    ($($on_tokio:literal: [$($type:ty),+ $(,)?];)+) => {
        [$($({
            type Asked = Probe<$type>;
            let is = [
                ("Send", Asked::SEND),
                ("Sync", Asked::SYNC),
                ("Unpin", Asked::UNPIN),
                ("UnwindSafe", Asked::UNWIND_SAFE),
                ("RefUnwindSafe", Asked::REF_UNWIND_SAFE),
            ];
            difference(stringify!($type), $on_tokio, is)
        }),+),+]
    };
}

/// More unwind safety than on tokio is allowed; any other difference is a fault.
fn difference(name: &str, on_tokio: &str, is: [(&str, bool); 5]) -> Option<String> {
    let differs = |(auto_trait, is): &(&str, bool)| {
        let is_on_tokio = on_tokio.split(' ').any(|other| other == *auto_trait);
        *is != is_on_tokio && (is_on_tokio || !auto_trait.ends_with("UnwindSafe"))
    };
    let found: Vec<_> = is.into_iter().filter(differs).collect();
    (!found.is_empty()).then(|| format!("{name}: {found:?}; on tokio: {on_tokio}"))
}

#[test]
fn types_have_the_auto_traits_that_they_have_on_tokio() {
    let differences: Vec<String> = check! {
        "Send Sync Unpin UnwindSafe RefUnwindSafe": [
            fs::DirBuilder,
            fs::DirEntry,
            fs::FileTimes,
            fs::OpenOptions,
            io::Interest,
            io::Ready,
            io::Stderr,
            io::Stdin,
            io::Stdout,
            io::unix::TryIoError,
            net::TcpListener,
            net::TcpSocket,
            net::TcpStream,
            net::UdpSocket,
            net::UnixDatagram,
            net::UnixListener,
            net::UnixSocket,
            net::UnixStream,
            net::tcp::OwnedReadHalf,
            net::tcp::OwnedWriteHalf,
            net::tcp::ReadHalf<'static>,
            net::tcp::ReuniteError,
            net::tcp::WriteHalf<'static>,
            net::unix::OwnedReadHalf,
            net::unix::OwnedWriteHalf,
            net::unix::ReadHalf<'static>,
            net::unix::ReuniteError,
            net::unix::SocketAddr,
            net::unix::UCred,
            net::unix::WriteHalf<'static>,
            net::unix::pipe::OpenOptions,
            net::unix::pipe::Receiver,
            net::unix::pipe::Sender,
            process::ChildStderr,
            process::ChildStdin,
            process::ChildStdout,
            runtime::Handle,
            runtime::Id,
            runtime::Runtime,
            runtime::RuntimeFlavor,
            runtime::RuntimeMetrics,
            runtime::TryCurrentError,
            signal::unix::SignalKind,
            task::AbortHandle,
            task::Id,
            time::Instant,
            time::MissedTickBehavior,
            time::error::Elapsed,
            time::error::Error,
            task::JoinHandle<Plain>,
            task::JoinHandle<Unshared>,
            task::JoinHandle<Pinned>,
            task::JoinHandle<Mutable>,
        ];
        "Send Sync Unpin": [
            fs::File,
            fs::ReadDir,
            process::Child,
            process::Command,
            runtime::Builder,
            signal::unix::Signal,
            task::JoinError,
            time::Interval,
            task::JoinSet<Plain>,
            task::JoinSet<Unshared>,
            task::JoinSet<Pinned>,
            task::JoinSet<Mutable>,
            io::unix::AsyncFd<Plain>,
            io::unix::AsyncFd<Mutable>,
            io::unix::AsyncFdReadyGuard<'static, Plain>,
            io::unix::AsyncFdReadyGuard<'static, SharedOnly>,
            io::unix::AsyncFdReadyGuard<'static, Pinned>,
            io::unix::AsyncFdReadyGuard<'static, Mutable>,
            io::unix::AsyncFdReadyMutGuard<'static, Plain>,
            io::unix::AsyncFdReadyMutGuard<'static, Pinned>,
            io::unix::AsyncFdReadyMutGuard<'static, Mutable>,
            io::unix::AsyncFdRegisterError<Plain>,
            io::unix::AsyncFdRegisterError<Mutable>,
        ];
        "Sync Unpin": [
            runtime::EnterGuard<'static>,
            io::unix::AsyncFd<SharedOnly>,
            io::unix::AsyncFdReadyMutGuard<'static, SharedOnly>,
            io::unix::AsyncFdRegisterError<SharedOnly>,
        ];
        "Unpin UnwindSafe RefUnwindSafe": [
            runtime::LocalOptions,
            runtime::LocalRuntime,
            task::JoinHandle<Local>,
            task::JoinHandle<SharedOnly>,
        ];
        "Unpin": [
            task::LocalEnterGuard,
            task::LocalSet,
            task::JoinSet<Local>,
            task::JoinSet<SharedOnly>,
            io::unix::AsyncFd<Local>,
            io::unix::AsyncFdReadyGuard<'static, Unshared>,
            io::unix::AsyncFdReadyGuard<'static, Local>,
            io::unix::AsyncFdReadyMutGuard<'static, Local>,
            io::unix::AsyncFdRegisterError<Local>,
        ];
        "Send Sync": [
            time::Sleep,
            time::Timeout<Plain>,
            time::Timeout<Pinned>,
            time::Timeout<Mutable>,
            io::unix::AsyncFd<Pinned>,
            io::unix::AsyncFdRegisterError<Pinned>,
        ];
        "Send": [
            time::Timeout<Unshared>,
        ];
        "": [
            time::Timeout<Local>,
        ];
        "Sync": [
            time::Timeout<SharedOnly>,
        ];
        "Send Unpin": [
            io::unix::AsyncFd<Unshared>,
            io::unix::AsyncFdReadyMutGuard<'static, Unshared>,
            io::unix::AsyncFdRegisterError<Unshared>,
        ];
    }
    .into_iter()
    .flatten()
    .collect();
    assert!(differences.is_empty(), "{differences:#?}");
}
