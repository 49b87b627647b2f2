//! A descriptor is closed and its number is in use again at once: the new owner hears what is the new one's, and nothing
//! else.
//!
//! Numbers belong to the whole process, so these tests run in one of their own, where nobody else opens anything.

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

/// Two connected sockets. The first one has the lowest number that is free.
fn sockets() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    ours.set_nonblocking(true).expect("set");
    (ours, theirs)
}

fn send(mut socket: &UnixStream) {
    socket.write_all(b"x").expect("sent");
}

/// Waits until all events that are under way have been delivered: a later one has been.
async fn deliver_events() {
    let (ours, theirs) = sockets();
    let fd = register(ours).expect("registered");
    send(&theirs);
    let _ = fd.readable().await.expect("readable");
}

/// What a new owner may rely on: it is not readable before something comes, is not woken before that either, and is then.
async fn assert_hears_only_its_own(fd: &AsyncFd<UnixStream>, theirs: &UnixStream, provoke: impl FnOnce()) {
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
    in_child("reused_numbers::an_event_under_way_does_not_reach_the_next_user_of_the_number", || {
        on_both(|| async {
            let mut reused = 0;
            for round in 0..200 {
                let (ours, theirs) = sockets();
                let number = ours.as_raw_fd();
                let fd = register(ours).expect("registered");
                // In every other round the kernel has already handed out the first events, in the others it hasn't.
                if round % 2 == 0 {
                    let _ = fd.writable().await.expect("writable");
                }
                send(&theirs);
                // Closed by number, behind the back of what the reactor was told.
                drop(OwnedFd::from(fd.into_inner()));

                let (ours, new_theirs) = sockets();
                reused += usize::from(ours.as_raw_fd() == number);
                let fd = register(ours).expect("registered");
                assert_hears_only_its_own(&fd, &new_theirs, || drop(theirs)).await;
            }
            assert!(reused > 100, "the numbers were not reused: {reused}");
        });
    });
}

/// A foreign library closes a descriptor and says so later, and somebody else holds a duplicate, so that the kernel goes on
/// reporting events for it. tokio's answer to the late deregistration is to take the new owner's registration away.
#[test]
#[cfg(target_os = "linux")]
fn a_descriptor_closed_before_it_was_deregistered_harms_nobody() {
    in_child("reused_numbers::a_descriptor_closed_before_it_was_deregistered_harms_nobody", || {
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
                assert_hears_only_its_own(&fd, &new_theirs, || send(&theirs)).await;

                // The late deregistration. The new owner still hears.
                drop(stale);
                fd.readable().await.expect("readable").clear_ready();
                assert_hears_only_its_own(&fd, &new_theirs, || send(&theirs)).await;
                drop(duplicate);
            }
        });
    });
}

/// The kernel can't be told to forget a descriptor whose number is closed already. As long as somebody holds a duplicate, it
/// goes on reporting events, under the token of a registration whose slot has long been given to the next one.
#[test]
#[cfg(target_os = "linux")]
fn events_of_a_forgotten_descriptor_reach_nobody() {
    in_child("reused_numbers::events_of_a_forgotten_descriptor_reach_nobody", || {
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
                assert_hears_only_its_own(&fd, &new_theirs, || send(&theirs)).await;
                drop(duplicate);
            }
        });
    });
}

/// What a binding to a C library does: it has a number, and somebody else has the descriptor.
fn register_number(number: RawFd) -> AsyncFd<RawFd> {
    // SAFETY: not kept, on purpose: the tests close the descriptor too early. What that breaks is `as_fd`, which nobody calls.
    unsafe { AsyncFd::register_with_interest(number, Interest::READABLE) }.expect("registered")
}
