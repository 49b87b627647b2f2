//! A descriptor is closed and its number is reused at once: the new owner receives its own events
//! and no others.
//!
//! Numbers are shared by the whole process, so these tests run in child processes, in which no
//! other test opens descriptors.

use std::future::Future;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::task::Context;

use futures::FutureExt;
use gmp_io::io::Interest;
use gmp_io::io::unix::AsyncFd;

use crate::async_fd::register;
use crate::support::{Count, in_child, on_both};

/// Two connected sockets. The first has the lowest free number.
fn sockets() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    ours.set_nonblocking(true).expect("set");
    (ours, theirs)
}

fn send(mut socket: &UnixStream) {
    socket.write_all(b"x").expect("sent");
}

/// Waits until all pending events have been delivered, because a later one has been.
async fn deliver_events() {
    let (ours, theirs) = sockets();
    let fd = register(ours).expect("registered");
    send(&theirs);
    let _ = fd.readable().await.expect("readable");
}

/// A new owner is neither readable nor woken before something arrives, and is afterwards.
async fn assert_receives_only_its_own(fd: &AsyncFd<UnixStream>, theirs: &UnixStream, provoke: impl FnOnce()) {
    let count = Arc::<Count>::default();
    let mut wait = Box::pin(fd.readable());
    assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
    provoke();
    deliver_events().await;
    assert_eq!(count.get(), 0, "woken by another one's event");
    assert!(fd.readable().now_or_never().is_none(), "another one's event has made it readable");
    send(theirs);
    let _ = wait.await.expect("readable");
}

#[test]
fn an_event_under_way_does_not_reach_the_next_user_of_the_number() {
    in_child("reactor_reused_numbers::an_event_under_way_does_not_reach_the_next_user_of_the_number", || {
        on_both(|| async {
            let mut reused = 0;
            for round in 0..200 {
                let (ours, theirs) = sockets();
                let number = ours.as_raw_fd();
                let fd = register(ours).expect("registered");
                // In every second round the kernel has already returned the first events, in the
                // others it has not.
                if round % 2 == 0 {
                    let _ = fd.writable().await.expect("writable");
                }
                send(&theirs);
                // Closed by number, unnoticed by the reactor.
                drop(OwnedFd::from(fd.into_inner()));

                let (ours, new_theirs) = sockets();
                reused += usize::from(ours.as_raw_fd() == number);
                let fd = register(ours).expect("registered");
                assert_receives_only_its_own(&fd, &new_theirs, || drop(theirs)).await;
            }
            assert!(reused > 100, "the numbers were not reused: {reused}");
        });
    });
}

/// Another library closes a descriptor and deregisters it later, while a duplicate exists, so that
/// the kernel goes on reporting events for it. tokio reacts to the late deregistration by removing
/// the new owner's registration.
#[test]
#[cfg(target_os = "linux")]
fn a_descriptor_closed_before_it_was_deregistered_harms_no_other() {
    in_child("reactor_reused_numbers::a_descriptor_closed_before_it_was_deregistered_harms_no_other", || {
        on_both(|| async {
            for _ in 0..50 {
                let (ours, theirs) = sockets();
                let number = ours.as_raw_fd();
                let duplicate = ours.try_clone().expect("a duplicate");
                let stale = register_number(number);
                drop(ours);

                let (ours, new_theirs) = sockets();
                assert_eq!(ours.as_raw_fd(), number, "the number is reused");
                let fd = register(ours).expect("registered");
                assert_receives_only_its_own(&fd, &new_theirs, || send(&theirs)).await;

                // The late deregistration. The new owner still receives its events.
                drop(stale);
                fd.readable().await.expect("readable").clear_ready();
                assert_receives_only_its_own(&fd, &new_theirs, || send(&theirs)).await;
                drop(duplicate);
            }
        });
    });
}

/// The kernel can't deregister a descriptor whose number is closed already. As long as a duplicate
/// exists, it goes on reporting events, under the token of a registration whose entry has long been
/// reused.
#[test]
#[cfg(target_os = "linux")]
fn events_of_a_forgotten_descriptor_reach_no_other() {
    in_child("reactor_reused_numbers::events_of_a_forgotten_descriptor_reach_no_other", || {
        on_both(|| async {
            for _ in 0..50 {
                let (ours, theirs) = sockets();
                let stale = register_number(ours.as_raw_fd());
                let duplicate = ours.try_clone().expect("a duplicate");
                drop(ours);
                let number = stale.into_inner();

                let (ours, new_theirs) = sockets();
                assert_eq!(ours.as_raw_fd(), number, "the number is reused");
                let fd = register(ours).expect("nothing of the old one is in the way");
                assert_receives_only_its_own(&fd, &new_theirs, || send(&theirs)).await;
                drop(duplicate);
            }
        });
    });
}

/// Like a binding to a C library: it has a number, and other code owns the descriptor.
fn register_number(number: RawFd) -> AsyncFd<RawFd> {
    // SAFETY: the promise is broken on purpose: the tests close the descriptor too early. That only
    // breaks `as_fd`, which is not called.
    unsafe { AsyncFd::register_with_interest(number, Interest::READABLE) }.expect("registered")
}
