//! The ways to block a thread.

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::BlockedCause;

use crate::support::{caller, entry, runtime};

/// Where nothing can end the blocking: long enough to be looked at on a busy machine.
const LONG: Duration = Duration::from_secs(2);

/// Blocks a thread by `block`, which stands in `line`, and wakes it once the report has its stack.
fn assert_line<T: Send + 'static>(
    line: u32,
    calls: &[&str],
    block: impl FnOnce() -> T + Send + 'static,
    unblock: impl FnOnce(),
) -> T {
    let runtime = runtime();
    let spawned = line!() + 1;
    let task = runtime.spawn(async move { block() });
    let entry = entry(runtime.handle(), spawned);
    unblock();
    let result = runtime.block_on(task).unwrap();
    let entry = entry.expect("it is reported");
    assert_eq!(entry.cause, BlockedCause::Blocked, "{entry}");
    assert!(calls.contains(&entry.calls[0].name.unwrap()), "{entry}");
    let [stack] = entry.stacks.as_slice() else { panic!("one stack: {entry}") };
    let caller = caller(stack);
    assert_eq!((caller.line, stack.count()), (Some(line), 1), "{entry}\n{stack:#}");
    assert!(caller.file.as_ref().unwrap().ends_with("tests/stacks/ways.rs"), "{entry}");
    let text = entry.to_string();
    assert!(text.ends_with(&format!("tests/stacks/ways.rs:{line}")) && text.contains(", called at "), "{text}");
    // The task ends where the executor begins.
    let outermost = stack.frames().last().unwrap();
    assert!(outermost.file.as_ref().unwrap().ends_with("tests/stacks/ways.rs"), "{stack:#}");
    result
}

const NOTHING: fn() = || ();

#[test]
fn sleep() {
    let (line, block) = (line!(), || thread::sleep(LONG));
    assert_line(line, &["clock_nanosleep"], block, NOTHING);
}

#[test]
fn usleep() {
    // SAFETY: it has no preconditions.
    let (line, block) = (line!(), || unsafe { libc::usleep(2_000_000) });
    assert_eq!(assert_line(line, &["clock_nanosleep", "nanosleep"], block, NOTHING), 0);
}

#[test]
fn poll() {
    let (receiver, sender) = UnixStream::pair().unwrap();
    let mut entry = libc::pollfd { fd: receiver.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: it is given a pointer to one entry that nobody else uses.
    let (line, block) = (line!(), move || unsafe { libc::poll(&raw mut entry, 1, -1) });
    assert_eq!(assert_line(line, &["poll", "ppoll"], block, || drop(sender)), 1);
}

#[test]
fn channel() {
    let (sender, receiver) = mpsc::channel::<()>();
    let (line, block) = (line!(), move || receiver.recv().is_err());
    assert!(assert_line(line, &["futex"], block, || drop(sender)));
}

#[test]
fn mutex() {
    let mutex = Arc::new(Mutex::new(()));
    let other = mutex.clone();
    let guard = mutex.lock().unwrap();
    let (line, block) = (line!(), move || drop(other.lock().unwrap()));
    assert_line(line, &["futex"], block, || drop(guard));
}

#[test]
fn condition_variable() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let wait = |(mutex, changed): &(Mutex<bool>, Condvar)| {
        let mut is_over = mutex.lock().unwrap();
        while !*is_over {
            is_over = changed.wait(is_over).unwrap();
        }
    };
    let line = line!() - 3;
    assert_line(
        line,
        &["futex"],
        move || wait(&other),
        || {
            *pair.0.lock().unwrap() = true;
            pair.1.notify_all();
        },
    );
}

#[test]
fn join() {
    let (sender, receiver) = mpsc::channel::<()>();
    let thread = thread::spawn(move || receiver.recv().is_err());
    let (line, block) = (line!(), move || thread.join().unwrap());
    assert!(assert_line(line, &["futex"], block, || drop(sender)));
}

#[test]
fn pipe() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, mut output) = (child.stdin.take(), child.stdout.take().unwrap());
    let (line, block) = (line!(), move || output.read(&mut [0]).unwrap());
    assert_eq!(assert_line(line, &["read"], block, || drop(input)), 0);
    assert!(child.wait().unwrap().success());
}

#[test]
fn child_process() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    // `wait` would drop it.
    let input = child.stdin.take();
    let (line, block) = (line!(), move || child.wait().unwrap().success());
    assert!(assert_line(line, &["wait4", "waitid"], block, || drop(input)));
}

#[test]
fn accept() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (line, block) = (line!(), move || listener.accept().is_ok());
    assert!(assert_line(line, &["accept", "accept4"], block, || drop(TcpStream::connect(address).unwrap())));
}

/// A signal would end it with `Interrupted`.
#[test]
fn datagram_with_a_time_limit() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    let (line, block) = (line!(), move || socket.recv(&mut [0]).unwrap_err().kind());
    let error = assert_line(line, &["recvfrom"], block, NOTHING);
    assert_eq!(error, io::ErrorKind::WouldBlock);
}
