//! The registration of an `AsyncFd`: what is refused, what a drop does, and how it ends.

use std::fs::File;
use std::future::Future;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll};

use futures::FutureExt;
use gmp_io::io::unix::AsyncFd;
use gmp_io::io::{Interest, Ready};
use rustix::io::Errno;

use crate::async_fd::{deliver_events, pair, register, send, sockets};
use crate::support::{Count, current_thread, multi_thread, on_both, within_deadline};

#[test]
fn what_cannot_be_waited_for_comes_back_with_the_error() {
    on_both(|| async {
        let path = std::env::current_exe().expect("this binary");
        let file = File::open(path).expect("opened");
        let number = file.as_raw_fd();
        let error = register(file).expect_err("a regular file is always ready");
        assert_eq!(error.to_string(), io::Error::from(Errno::PERM).to_string());
        let (file, error) = error.into_parts();
        assert_eq!((file.as_raw_fd(), error.raw_os_error()), (number, Some(Errno::PERM.raw_os_error())));
        drop(file);
        deliver_events().await;
    });
}

#[test]
#[expect(deprecated, reason = "the old constructors are still there")]
fn the_old_constructors_do_the_same() {
    on_both(|| async {
        let file = || File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?)).expect("opened");
        assert_eq!(AsyncFd::new(file()).expect_err("a file").kind(), ErrorKind::PermissionDenied);
        assert_eq!(AsyncFd::with_interest(-1, Interest::READABLE).expect_err("none").raw_os_error(), Some(9));
        let (_file, error) = AsyncFd::try_new(file()).expect_err("a file").into_parts();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        let error = AsyncFd::try_with_interest(-1, Interest::READABLE).expect_err("none");
        assert_eq!(io::Error::from(error).raw_os_error(), Some(9));

        let (ours, theirs) = sockets();
        let fd = AsyncFd::try_new(ours).expect("registered");
        send(&theirs, b"x");
        let _ = fd.readable().await.expect("readable");
    });
}

#[test]
fn a_second_registration_fails_and_leaves_the_first_alone() {
    on_both(|| async {
        let (fd, theirs) = pair();
        let number = fd.as_raw_fd();
        let borrowed = fd.as_fd();
        for _ in 0..2 {
            let (again, error) = register(borrowed).expect_err("registered already").into_parts();
            assert_eq!(again.as_raw_fd(), number);
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        }
        deliver_events().await;
        send(&theirs, b"x");
        let _ = fd.readable().await.expect("the first one still works");
        drop(fd);
        drop(register(theirs).expect("the system is not confused"));
    });
}

#[test]
fn a_descriptor_can_be_taken_back_and_registered_again() {
    on_both(|| async {
        let (mut fd, theirs) = pair();
        for byte in 0..10 {
            send(&theirs, &[byte]);
            let _ = fd.readable().await.expect("readable");
            let mut socket = fd.into_inner();
            let mut buf = [0; 1];
            socket.read_exact(&mut buf).expect("read");
            assert_eq!(buf, [byte]);
            fd = register(socket).expect("registered again");
        }
    });
}

/// Counts how often its descriptor is asked for, and asserts in its drop that it was deregistered.
struct Watched {
    socket: UnixStream,
    asked: Arc<AtomicUsize>,
}

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.asked.fetch_add(1, SeqCst);
        self.socket.as_raw_fd()
    }
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(register(self.socket.as_fd()).expect("it is not registered any more"));
        panic!("this drop always panics; the test wants to see what happens");
    }
}

#[test]
fn the_inner_value_is_dropped_after_it_was_deregistered() {
    on_both(|| async {
        let asked = Arc::<AtomicUsize>::default();
        let (socket, theirs) = sockets();
        let fd = register(Watched { socket, asked: asked.clone() }).expect("registered");
        assert_eq!(asked.load(SeqCst), 1);
        send(&theirs, b"x");
        let _ = fd.readable().await.expect("readable");
        let payload = catch_unwind(AssertUnwindSafe(|| drop(fd))).expect_err("the drop panics");
        assert!(payload.downcast_ref::<&str>().expect("a text").starts_with("this drop always panics"));
        assert_eq!(asked.load(SeqCst), 1, "no second answer, which may differ, is needed");
        assert_eq!((&theirs).read(&mut [0]).expect_err("data was left unread").kind(), ErrorKind::ConnectionReset);
        deliver_events().await;
    });
}

#[test]
fn dropping_wakes_no_task_and_drops_the_wakers() {
    on_both(|| async {
        let (fd, theirs) = pair();
        let count = Arc::<Count>::default();
        assert!(fd.poll_read_ready(&mut Context::from_waker(&count.waker())).is_pending());
        let kept = fd.into_inner();
        assert_eq!(Arc::strong_count(&count), 1, "its waker is gone");
        send(&theirs, b"x");
        deliver_events().await;
        drop(kept);
        assert_eq!(count.get(), 0);
    });
}

const SHUTDOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

#[test]
fn the_end_of_the_runtime_ends_every_wait() {
    for runtime in [multi_thread(), current_thread()] {
        let guard = runtime.enter();
        let (mut fd, theirs) = pair();
        drop(guard);
        let count = Arc::<Count>::default();
        let (waker, task) = (count.waker(), Arc::<Count>::default());
        assert!(fd.poll_read_ready(&mut Context::from_waker(&waker)).is_pending());
        {
            let mut wait = pin!(fd.readable());
            assert!(wait.as_mut().poll(&mut Context::from_waker(&task.waker())).is_pending());
            drop(runtime);
            assert_eq!((count.get(), task.get()), (1, 1));
            let error = wait.now_or_never().expect("woken").expect_err("it is gone");
            assert_eq!(error.to_string(), SHUTDOWN);
        }
        send(&theirs, b"x");
        let cx = &mut Context::from_waker(&waker);
        let outcomes = [
            fd.writable_mut().now_or_never().map(|result| result.map(drop)),
            fd.async_io(Interest::READABLE, |_| Ok(())).now_or_never(),
            ready(fd.poll_read_ready(cx).map_ok(drop)),
            ready(fd.poll_write_ready_mut(cx).map_ok(drop)),
        ];
        for outcome in outcomes {
            assert_eq!(outcome.expect("an answer").expect_err("it is gone").to_string(), SHUTDOWN);
        }
        assert_eq!(fd.into_inner().read(&mut [0; 4]).expect("the socket itself is well"), 1);
    }
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// A task holds a guard with the last event of a runtime. Clearing must work even if the runtime
/// ends in between.
#[test]
fn a_guard_outlives_its_runtime() {
    let runtime = multi_thread();
    let (fd, mut guard);
    (fd, _) = {
        let _entered = runtime.enter();
        let (fd, theirs) = pair();
        send(&theirs, b"x");
        (fd, theirs)
    };
    guard = runtime.block_on(within_deadline(fd.readable())).expect("readable");
    drop(runtime);
    guard.clear_ready();
    assert_eq!(guard.ready(), Ready::EMPTY);
    assert_eq!(fd.readable().now_or_never().expect("an answer").expect_err("it is gone").to_string(), SHUTDOWN);
}

#[test]
fn debug_shows_the_inner_value() {
    let runtime = multi_thread();
    let _entered = runtime.enter();
    let (reader, _writer) = rustix::pipe::pipe().expect("a pipe");
    let number = reader.as_raw_fd();
    let fd: AsyncFd<OwnedFd> = register(reader).expect("registered");
    assert!(format!("{fd:?}").contains(&number.to_string()));
}
