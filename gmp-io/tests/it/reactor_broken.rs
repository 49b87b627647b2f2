//! The reactor can't poll any more. What waits for the network would wait for ever, so the thread
//! that polls panics as on tokio. Each test breaks the epolls of its own process, which is a child.

use std::fs::{File, read_dir, read_link};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gmp_exec::time::sleep;
use tokio::io::AsyncReadExt;

use crate::support::{
    current_thread, in_child, listen, message_of, multi_thread, output_of_child, pair, within_deadline,
};

const REASON: &str = "unexpected error when polling the I/O driver: ";

/// Descriptors of all epolls of this process.
fn epolls() -> Vec<RawFd> {
    let all = read_dir("/proc/self/fd").expect("the descriptors").map(|entry| entry.expect("a descriptor").path());
    let is_epoll = |path: &PathBuf| read_link(path).is_ok_and(|to| to == Path::new("anon_inode:[eventpoll]"));
    let number = |path: PathBuf| path.file_name()?.to_str()?.parse().ok();
    let epolls: Vec<RawFd> = all.filter(is_epoll).filter_map(number).collect();
    assert!(!epolls.is_empty());
    epolls
}

/// Puts another file in the place of each epoll: polling fails with EINVAL.
fn replace_epolls() {
    let null = File::open("/dev/null").expect("opened");
    for number in epolls() {
        // SAFETY: touches no memory. What uses the number is to fail.
        assert_eq!(unsafe { libc::dup2(null.as_raw_fd(), number) }, number);
    }
}

/// Polling fails with EBADF.
fn close_epolls() {
    for number in epolls() {
        // SAFETY: as above.
        assert_eq!(unsafe { libc::close(number) }, 0);
    }
}

/// Waits for a connection that never comes, and for timers, so that the reactor is polled again.
async fn wait_with_broken_epolls(break_them: fn()) {
    let listener = listen().await;
    gmp_exec::spawn(async move { listener.accept().await });
    sleep(Duration::from_millis(1)).await;
    break_them();
    loop {
        sleep(Duration::from_millis(1)).await;
    }
}

fn assert_aborts(name: &str, break_them: fn(), code: i32) {
    let test = || multi_thread().block_on(within_deadline(wait_with_broken_epolls(break_them)));
    let Some(output) = output_of_child(name, test) else { return };
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains(&format!("{REASON}Os {{ code: {code}, ")), "{text}");
    assert!(
        text.contains("gmp: thread \"") && text.contains("\" has panicked outside of any task; aborting the process"),
        "{text}"
    );
}

#[test]
fn an_epoll_that_was_replaced_ends_the_process_of_a_multi_thread_runtime() {
    let name = "reactor_broken::an_epoll_that_was_replaced_ends_the_process_of_a_multi_thread_runtime";
    assert_aborts(name, replace_epolls, libc::EINVAL);
}

#[test]
fn an_epoll_that_was_closed_ends_the_process_of_a_multi_thread_runtime() {
    let name = "reactor_broken::an_epoll_that_was_closed_ends_the_process_of_a_multi_thread_runtime";
    assert_aborts(name, close_epolls, libc::EBADF);
}

/// The caller is told, and the process goes on.
#[test]
fn an_epoll_that_was_replaced_ends_block_on_of_a_current_thread_runtime() {
    in_child("reactor_broken::an_epoll_that_was_replaced_ends_block_on_of_a_current_thread_runtime", || {
        let runtime = current_thread();
        let wait = || runtime.block_on(within_deadline(wait_with_broken_epolls(replace_epolls)));
        assert!(message_of(wait).starts_with(&format!("{REASON}Os {{ code: {}, ", libc::EINVAL)));
        // Again, while the thread would sleep without a timer.
        let wait = || runtime.block_on(async { std::future::pending().await });
        assert!(message_of(wait).starts_with(REASON));
        // And while there is always something to do.
        let busy = || {
            runtime.block_on(async {
                loop {
                    gmp_exec::task::yield_now().await
                }
            })
        };
        assert!(message_of(busy).starts_with(REASON));
        drop(runtime);
        current_thread().block_on(within_deadline(async {
            let (mut client, server) = pair().await;
            drop(server);
            assert_eq!(client.read(&mut [0; 1]).await.expect("the end"), 0);
        }));
    });
}
