//! The reactor by itself, without a scheduler: polls, wake-ups, deliveries and the end.

use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Wake};
use std::thread;
use std::time::Instant;

use super::*;

/// Far longer than anything here takes. A poll that should be ended by something else fails the
/// test when it lasts this long.
const LONG: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics, as the test wants it to");
    }
}

fn reactor() -> Arc<Reactor> {
    Arc::new(Reactor::new((1024, 1024)).expect("a reactor"))
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
    (client, listener.accept().expect("accepted").0)
}

fn registered(reactor: &Arc<Reactor>, socket: &TcpStream) -> Registration {
    reactor.clone().register(socket.as_raw_fd(), Interest::READABLE).expect("registered")
}

/// Makes `waker` wait for `registration` to become readable.
fn wait(registration: &Registration, waker: &Waker) {
    let mut wait = Box::pin(registration.readiness(Interest::READABLE));
    assert!(wait.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    // The entry must outlive this function; the test ends soon.
    mem::forget(wait);
}

fn send(socket: &TcpStream) {
    io::Write::write_all(&mut &*socket, b"x").expect("sent");
}

#[test]
fn a_wake_up_that_comes_first_ends_the_next_poll() {
    let reactor = reactor();
    reactor.wake();
    let start = Instant::now();
    reactor.poll(Some(LONG)).expect("polled");
    assert!(start.elapsed() < LONG);
}

#[test]
fn a_wake_up_ends_the_poll_under_way() {
    let reactor = reactor();
    for timeout in [None, Some(LONG)] {
        let poller = {
            let reactor = reactor.clone();
            thread::spawn(move || reactor.poll(timeout).expect("polled"))
        };
        let start = Instant::now();
        reactor.wake();
        poller.join().expect("the poller");
        assert!(start.elapsed() < LONG);
    }
}

#[test]
fn a_poll_ends_after_its_timeout() {
    let reactor = reactor();
    for timeout in [Duration::from_micros(200), Duration::from_millis(3)] {
        let start = Instant::now();
        // The poll may end early; then the caller polls again.
        while start.elapsed() < timeout {
            reactor.poll(Some(timeout)).expect("polled");
        }
        assert!(start.elapsed() < LONG);
    }
}

#[test]
fn looking_does_not_wait() {
    let reactor = reactor();
    let start = Instant::now();
    reactor.poll(Some(Duration::ZERO)).expect("looked");
    assert!(start.elapsed() < LONG);
}

#[test]
fn a_second_poll_returns_at_once() {
    let reactor = reactor();
    let _busy = reactor.event_loop.lock().expect("not poisoned");
    reactor.poll(None).expect("returns at once");
}

#[test]
fn an_event_wakes_the_task_that_waits_for_it() {
    let reactor = reactor();
    let (client, server) = pair();
    let registration = registered(&reactor, &server);
    let count = Arc::<Count>::default();
    wait(&registration, &count.clone().into());
    send(&client);
    while count.0.load(SeqCst) == 0 {
        reactor.poll(Some(LONG)).expect("polled");
    }
}

#[test]
fn a_deregistered_source_receives_no_event() {
    let reactor = reactor();
    let (client, server) = pair();
    let registration = registered(&reactor, &server);
    let count = Arc::<Count>::default();
    wait(&registration, &count.clone().into());
    registration.deregister().expect("deregistered");
    send(&client);
    reactor.poll(Some(Duration::ZERO)).expect("looked");
    assert_eq!(count.0.load(SeqCst), 0);
}

#[test]
fn a_waker_that_panics_does_not_keep_the_others_from_being_woken() {
    let reactor = reactor();
    let sockets: Vec<_> = (0..3).map(|_| pair()).collect();
    let count = Arc::<Count>::default();
    let wakers: [Waker; 3] = [count.clone().into(), Arc::new(Panics).into(), count.clone().into()];
    let registrations: Vec<_> = sockets.iter().map(|(_, server)| registered(&reactor, server)).collect();
    for (registration, waker) in registrations.iter().zip(&wakers) {
        wait(registration, waker);
    }
    sockets.iter().for_each(|(client, _)| send(client));
    while count.0.load(SeqCst) < 2 {
        reactor.poll(Some(LONG)).expect("polled");
    }
}

#[test]
fn after_a_shutdown_everything_is_refused() {
    let reactor = reactor();
    let (_client, server) = pair();
    let registration = registered(&reactor, &server);
    let count = Arc::<Count>::default();
    wait(&registration, &count.clone().into());
    reactor.shutdown();
    assert_eq!(count.0.load(SeqCst), 1, "the task that waits is woken");
    let refused = reactor.clone().register(server.as_raw_fd(), Interest::READABLE);
    assert_eq!(refused.expect_err("shut down").kind(), io::ErrorKind::Other);
}

/// Two threads try to register a descriptor that is registered already, at the same time.
#[test]
fn refused_registrations_leave_the_first_one_alone() {
    let reactor = reactor();
    let (mut near, far) = pair();
    let registration = registered(&reactor, &near);
    let refused = |_| {
        for _ in 0..2_000 {
            let error = reactor.clone().register(near.as_raw_fd(), Interest::READABLE).expect_err("refused");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        }
    };
    thread::scope(|scope| {
        [0, 1].map(|at| scope.spawn(move || refused(at))).map(|thread| thread.join().expect("no panic"))
    });
    let count = Arc::new(Count::default());
    wait(&registration, &count.clone().into());
    send(&far);
    reactor.poll(Some(LONG)).expect("polled");
    assert_eq!(count.0.load(SeqCst), 1);
    assert_eq!(io::Read::read(&mut near, &mut [0; 8]).expect("readable"), 1);
}
