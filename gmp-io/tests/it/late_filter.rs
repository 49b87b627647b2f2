//! A program that installs a system call filter after its start. The filter ends the process at calls
//! that tokio would not make for the same operation.

use std::env::temp_dir;
use std::process::{Stdio, id};
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::time::{sleep, timeout};
use gmp_io::fs::{self, File, OpenOptions};
use gmp_io::io::{stderr, stdin, stdout};
use gmp_io::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream, lookup_host};
use gmp_io::process::Command;
use rustix::process::{Pid, test_kill_process};
use rustix::thread::{SecureComputingMode, no_new_privs, secure_computing_mode};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::filter::kill_at;
use crate::support::{current_thread, eventually, in_child, multi_thread, within_deadline};

#[test]
fn files() {
    in_child("late_filter::files", || {
        let calls = [libc::SYS_openat2, libc::SYS_preadv2, libc::SYS_fstatfs, libc::SYS_statx];
        after_the_filter(&calls, async || {
            let path = temp_dir().join(format!("gmp-late-filter-{}", id()));
            let mut options = OpenOptions::new();
            let mut file = options.create(true).read(true).write(true).open(&path).await.expect("opened");
            file.write_all(&[7; 10_000]).await.expect("written");
            File::open(&path).await.expect("opened").read_u8().await.ok();
            file.rewind().await.expect("there");
            let mut read = Vec::new();
            file.read_to_end(&mut read).await.expect("read");
            assert!(read == [7; 10_000]);
            file.set_len(1).await.expect("shorter");
            assert_eq!(File::open(&path).await.expect("opened").read(&mut [0; 9]).await.expect("read"), 1);
            fs::remove_file(&path).await.expect("removed");
        });
    });
}

#[test]
fn paths_and_names() {
    in_child("late_filter::paths_and_names", || {
        let mut calls = vec![libc::SYS_openat2, libc::SYS_preadv2, libc::SYS_fstatfs];
        // With musl the standard library itself calls this, for the size of a file that it reads.
        if cfg!(not(target_env = "musl")) {
            calls.push(libc::SYS_fstat);
        }
        after_the_filter(&calls, async || {
            let path = temp_dir().join(format!("gmp-late-filter-{}", id()));
            fs::write(&path, "text").await.expect("written");
            assert_eq!(fs::read(&path).await.expect("read"), b"text");
            assert_eq!(fs::read_to_string(&path).await.expect("read"), "text");
            assert_eq!(fs::metadata(&path).await.expect("there").len(), 4);
            assert!(fs::symlink_metadata(&path).await.expect("there").is_file());
            assert!(fs::try_exists(&path).await.expect("known"));
            fs::remove_file(&path).await.expect("removed");
            assert!(!fs::try_exists(&path).await.expect("known"));
            assert_eq!(lookup_host("127.0.0.1:80").await.expect("a number").count(), 1);
        });
    });
}

#[test]
fn sockets_and_timers() {
    in_child("late_filter::sockets_and_timers", || {
        let calls = [libc::SYS_ioctl, libc::SYS_openat, libc::SYS_timerfd_create, libc::SYS_timerfd_settime];
        let path = temp_dir().join(format!("gmp-late-filter-{}", id()));
        after_the_filter(&calls, async || {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
            timeout(Duration::from_millis(3), listener.accept()).await.expect_err("no client");
            let client = TcpStream::connect(listener.local_addr().expect("bound")).await.expect("connected");
            let (mut accepted, _) = listener.accept().await.expect("accepted");
            accepted.write_u8(7).await.expect("written");
            client.readable().await.expect("readable");

            let listener = UnixListener::bind(&path).expect("bound");
            let mut client = UnixStream::connect(&path).await.expect("connected");
            let (mut accepted, peer) = listener.accept().await.expect("accepted");
            assert!(peer.is_unnamed());
            accepted.write_u8(7).await.expect("written");
            assert_eq!(client.read_u8().await.expect("read"), 7);
            std::fs::remove_file(&path).expect("removed");

            let server = UnixDatagram::bind(&path).expect("bound");
            UnixDatagram::unbound().expect("made").send_to(b"x", &path).await.expect("sent");
            assert_eq!(server.recv(&mut [0; 9]).await.expect("received"), 1);
            std::fs::remove_file(&path).expect("removed");
            sleep(Duration::from_millis(3)).await;
        });
    });
}

/// Children inherit the filter, and make some calls that gmp has to avoid elsewhere.
#[test]
fn children() {
    in_child("late_filter::children", || {
        let calls = [libc::SYS_ioctl, libc::SYS_ppoll, libc::SYS_socketpair, libc::SYS_timerfd_settime];
        after_the_filter(&calls, async || {
            assert!(Command::new("true").status().await.expect("started").success());
            let mut cat = Command::new("cat");
            let mut child = cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
            child.stdin.take().expect("piped").write_all(b"text").await.expect("written");
            assert_eq!(child.wait_with_output().await.expect("read").stdout, b"text");

            let mut dropped = cat.stdout(Stdio::null()).spawn().expect("started");
            let (pid, input) = (dropped.id().expect("running"), dropped.stdin.take());
            drop(dropped);
            drop(input);
            let pid = Pid::from_raw(i32::try_from(pid).expect("a process")).expect("a process");
            eventually(async || test_kill_process(pid).err()).await;
        });
    });
}

#[test]
fn standard_streams() {
    in_child("late_filter::standard_streams", || {
        let calls = [
            libc::SYS_fstat,
            // Kernels of arm64 lack it.
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll,
            libc::SYS_ppoll,
        ];
        after_the_filter(&calls, async || {
            stdout().write_all(&[b'\n'; 5_000]).await.expect("written");
            stdout().flush().await.expect("flushed");
            stderr().write_all(b"\n").await.expect("written");
            assert_eq!(stdin().read(&mut [0; 9]).await.expect("read"), 0);
        });
    });
}

/// Runs `work` on both flavours, whose reactors exist before the filter.
fn after_the_filter(calls: &[libc::c_long], work: impl AsyncFn()) {
    // Where this was set before a second filter comes, gmp does not notice that one.
    let is_filtered = secure_computing_mode().expect("known") != SecureComputingMode::Disabled;
    if is_filtered && no_new_privs().expect("known") {
        return;
    }
    let runtimes: [Runtime; 2] = [multi_thread(), current_thread()];
    for runtime in &runtimes {
        runtime.block_on(UdpSocket::bind("127.0.0.1:0")).expect("bound");
    }
    kill_at(calls);
    for runtime in &runtimes {
        runtime.block_on(within_deadline(work()));
    }
}
