//! Reads that are cancelled wherever they can be lose no bytes and repeat none, on every kind of
//! runtime.

use std::fs;
use std::future::Future;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;

use futures::FutureExt;
use gmp_exec::runtime::{Builder, LocalOptions, Runtime};
use gmp_exec::task::yield_now;
use gmp_exec::time::timeout;
use gmp_io::fs::File;
use tokio::io::AsyncReadExt;

use crate::fs_support::{forget_half, patterned, temp_dir};
use crate::support::within_deadline;

fn runtimes() -> Vec<Runtime> {
    let [mut plain, mut in_place, mut crowded] = [(); 3].map(|()| Builder::new_multi_thread());
    let [mut current, mut crowded_current] = [(); 2].map(|()| Builder::new_current_thread());
    let builders = [
        plain.worker_threads(2),
        in_place.worker_threads(2).closures_in_place(true),
        crowded.worker_threads(1).max_blocking_threads(1),
        &mut current,
        crowded_current.max_blocking_threads(1),
    ];
    builders.map(|builder| builder.enable_all().build().expect("a runtime")).into()
}

/// In the future of `block_on`, and in a task.
fn on_all<F: Future<Output = ()> + Send + 'static>(test: impl Fn() -> F) {
    for runtime in runtimes() {
        runtime.block_on(within_deadline(test()));
        runtime.block_on(within_deadline(runtime.spawn(test()))).expect("no panic");
    }
    let local = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).expect("a runtime");
    local.block_on(within_deadline(test()));
    local.block_on(within_deadline(local.spawn_local(test()))).expect("no panic");
}

async fn assert_nothing_is_lost(mut file: File, expected: &[u8]) {
    let mut read = Vec::new();
    let mut buf = [0; 700];
    for round in 0.. {
        let size = 1 + round * 37 % buf.len();
        let cancelled = cancel(round % 5, file.read(&mut buf[..size])).await;
        match cancelled.map(|n| n.expect("read")) {
            Some(0) => break,
            Some(n) => read.extend_from_slice(&buf[..n]),
            None => {}
        }
    }
    assert!(read == expected, "{} of {} bytes", read.len(), expected.len());
}

/// Polls a future a few times, and then drops it; or drops it when a timer is due.
async fn cancel<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    if polls == 0 {
        return timeout(Duration::from_micros(100), future).await.ok();
    }
    let mut future = pin!(future);
    for _ in 0..polls {
        if let Some(output) = future.as_mut().now_or_never() {
            return Some(output);
        }
        yield_now().await;
    }
    None
}

#[test]
fn reads_of_a_pipe() {
    on_all(|| async {
        let contents: Vec<u8> = (0..20_000).map(|at| (at % 251) as u8).collect();
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let written = contents.clone();
        let writing = std::thread::spawn(move || {
            for piece in written.chunks(613) {
                writer.write_all(piece).expect("the other end reads");
                std::thread::yield_now();
            }
        });
        assert_nothing_is_lost(File::from(OwnedFd::from(reader)), &contents).await;
        writing.join().expect("no panic");
    });
}

#[test]
fn reads_of_a_file() {
    on_all(|| async {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 50_000);
        assert_nothing_is_lost(File::from_std(fs::File::open(&path).expect("opened")), &contents).await;
        assert_nothing_is_lost(File::open(&path).await.expect("opened"), &contents).await;
        forget_half(&path);
        assert_nothing_is_lost(File::open(&path).await.expect("opened"), &contents).await;
    });
}
