//! Signals interrupt threads in the middle of system calls. The handler is installed without
//! `SA_RESTART`, so every call that can be interrupted is.
//!
//! Handlers apply to the whole process, so the test runs in a child process.

use std::fs::{self, File};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;
use std::{mem, ptr, thread};

use gmp_exec::task::spawn_blocking;
use gmp_exec::time::{Instant, sleep};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::reactor_idle::assert_quiet;
use crate::support::{current_thread, in_child, multi_thread, pair, within_deadline};
use crate::udp;

/// How often the handler has run.
static INTERRUPTIONS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_: libc::c_int) {
    INTERRUPTIONS.fetch_add(1, SeqCst);
}

fn install_handler() {
    // SAFETY: all bytes zero is a valid `sigaction`: no flags, so no `SA_RESTART`, and an empty
    // mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler only makes an atomic addition, which a handler may do, and exists as long
    // as the process.
    let result = unsafe { libc::sigaction(libc::SIGUSR1, &action, ptr::null_mut()) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// Interrupts every other thread of the process, until `stop`.
fn interrupt_all_threads(stop: &AtomicBool) {
    let own = rustix::thread::gettid().as_raw_nonzero().get();
    let process = rustix::process::getpid().as_raw_nonzero().get();
    while !stop.load(SeqCst) {
        let threads = fs::read_dir("/proc/self/task")
            .expect("Linux")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<libc::pid_t>().ok());
        for thread in threads.filter(|thread| *thread != own) {
            // SAFETY: sending a signal touches no memory of ours. A thread that has ended is an
            // error, which is ignored.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
        }
        // Leaves the other threads some time for their work.
        thread::sleep(Duration::from_micros(200));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn interruptions_lose_nothing_and_leave_nothing_spinning() {
    in_child("reactor_interrupted::interruptions_lose_nothing_and_leave_nothing_spinning", || {
        install_handler();
        for runtime in [current_thread(), multi_thread()] {
            let stop = Arc::new(AtomicBool::new(false));
            let interrupting = thread::spawn({
                let stop = stop.clone();
                move || interrupt_all_threads(&stop)
            });
            let before = INTERRUPTIONS.load(SeqCst);
            runtime.block_on(within_deadline(async {
                tokio::join!(tcp_echo(), udp_echo(), timers(), blocking_read());
                // Idle threads are in other kinds of calls.
                while INTERRUPTIONS.load(SeqCst) < before + 500 {
                    sleep(Duration::from_millis(1)).await;
                }
            }));
            stop.store(true, SeqCst);
            interrupting.join().expect("the interrupter");
            let _open = runtime.block_on(pair());
            assert_quiet();
        }
    });
}

async fn tcp_echo() {
    let (mut client, mut server) = pair().await;
    let echo = gmp_exec::spawn(async move {
        let (mut reader, mut writer) = server.split();
        tokio::io::copy(&mut reader, &mut writer).await.expect("echoed");
    });
    for round in 0..300_u32 {
        client.write_u32(round).await.expect("written");
        assert_eq!(client.read_u32().await.expect("read"), round);
    }
    drop(client);
    echo.await.expect("the echo");
}

async fn udp_echo() {
    let (a, b) = udp::pair().await;
    for round in 0..300_u32 {
        let bytes = round.to_ne_bytes();
        let mut received = [0; 4];
        let (sent, n) = tokio::join!(a.send(&bytes), b.recv(&mut received));
        assert_eq!((sent.expect("sent"), n.expect("received"), received), (4, 4, bytes));
    }
}

async fn timers() {
    for _ in 0..100 {
        let begin = Instant::now();
        sleep(Duration::from_millis(1)).await;
        assert!(begin.elapsed() >= Duration::from_millis(1), "a timer fired early");
    }
}

/// A thread in a long call, as in a background closure: the call is interrupted and returns early.
async fn blocking_read() {
    const BYTES: usize = 64;
    let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
    let reading = spawn_blocking(move || {
        let mut received = vec![0; BYTES];
        File::from(reader).read_exact(&mut received).map(|()| received)
    });
    for byte in 0..BYTES as u8 {
        sleep(Duration::from_millis(1)).await;
        assert_eq!(rustix::io::write(&writer, &[byte]).expect("written"), 1);
    }
    let received = reading.await.expect("the closure").expect("read");
    assert!(received.into_iter().eq(0..BYTES as u8));
}
