//! An operation that the file can't begin, because there is no thread for it, loses no bytes that
//! were read before.

use std::io::SeekFrom;
use std::sync::mpsc::channel;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::spawn_blocking;
use gmp_exec::time::sleep;
use gmp_io::fs::File;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::fs_support::{forget_half, patterned, temp_dir};
use crate::support::{current_thread, in_child, within_deadline};

/// Large enough to be refused by the limit below, whatever else the process maps.
const STACK: usize = 256 << 20;

/// The one thread for closures ends as soon as it has nothing to do.
fn starved() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().max_blocking_threads(1);
    builder.thread_stack_size(STACK).thread_keep_alive(Duration::from_millis(1)).build().expect("a runtime")
}

/// Runs `attempt`, which needs a thread, while `runtime` has none and the system gives it none.
async fn without_threads<T>(runtime: &Runtime, attempt: impl AsyncFnOnce() -> T) -> T {
    while runtime.metrics().num_blocking_threads() > 0 {
        sleep(Duration::from_millis(1)).await;
    }
    let before = getrlimit(Resource::As);
    let status = std::fs::read_to_string("/proc/self/status").expect("read");
    let mapped = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB")).expect("a size");
    let limit = mapped.trim().parse::<u64>().expect("a number") * 1024 + STACK as u64 / 2;
    setrlimit(Resource::As, Rlimit { current: Some(limit), ..before }).expect("lowered");
    let outcome = attempt().await;
    setrlimit(Resource::As, before).expect("raised");
    outcome
}

#[test]
fn a_read_that_gets_no_thread_loses_nothing() {
    in_child("fs_no_threads::a_read_that_gets_no_thread_loses_nothing", || {
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 1 << 20);
        let runtime = starved();
        runtime.block_on(within_deadline(async {
            let mut file = File::open(&path).await.expect("opened");
            forget_half(&path);
            let mut buf = vec![0; 2 << 20];
            let first = without_threads(&runtime, async || file.read(&mut buf).await).await;
            let mut read = buf[..first.unwrap_or(0)].to_vec();
            file.read_to_end(&mut read).await.expect("read");
            assert!(read == contents, "{} of {} bytes", read.len(), contents.len());
        }));
    });
}

/// The read is cancelled before its turn has come, and never begins.
#[test]
fn a_read_that_the_end_of_the_runtime_drops_loses_nothing() {
    let dir = temp_dir();
    let (path, contents) = patterned(dir.path(), 1 << 20);
    let mut file = current_thread().block_on(File::open(&path)).expect("opened");
    forget_half(&path);
    let runtime = starved();
    let (release, held) = channel::<()>();
    let mut buf = vec![0; 2 << 20];
    let first = runtime.block_on(async {
        drop(spawn_blocking(move || held.recv()));
        file.read(&mut buf).now_or_never()
    });
    runtime.shutdown_background();
    let mut read = buf[..first.map_or(0, |n| n.expect("in memory"))].to_vec();
    current_thread().block_on(within_deadline(async {
        if read.is_empty() {
            file.read(&mut buf).await.expect_err("the first read is over");
        }
        file.read_to_end(&mut read).await.expect("read");
    }));
    assert!(read == contents, "{} of {} bytes", read.len(), contents.len());
    drop(release);
}

/// A cancelled read has left bytes with the file, and the system's cursor is behind them.
#[test]
fn an_operation_that_gets_no_thread_leaves_the_reader_where_it_is() {
    in_child("fs_no_threads::an_operation_that_gets_no_thread_leaves_the_reader_where_it_is", || {
        type Operation = for<'a> fn(&'a mut File) -> BoxFuture<'a, std::io::Result<()>>;
        let operations: [Operation; 3] = [
            |file| file.seek(SeekFrom::End(0)).map(|outcome| outcome.map(drop)).boxed(),
            |file| file.set_len(1).boxed(),
            |file| file.write_all(b"lost").boxed(),
        ];
        let dir = temp_dir();
        let (path, contents) = patterned(dir.path(), 100);
        for operation in operations {
            let runtime = starved();
            runtime.block_on(within_deadline(async {
                let opened = std::fs::OpenOptions::new().read(true).write(true).open(&path);
                let mut file = File::from_std(opened.expect("opened"));
                let (release, held) = channel::<()>();
                drop(spawn_blocking(move || held.recv()));
                assert!(file.read(&mut [0; 50]).now_or_never().is_none(), "its turn has not come");
                drop(release);
                assert_eq!(file.read_u8().await.expect("a byte"), contents[0]);
                without_threads(&runtime, async || operation(&mut file).await).await.expect_err("no thread");
                let mut rest = Vec::new();
                file.read_to_end(&mut rest).await.expect("read");
                assert!(rest == contents[1..], "{rest:?}");
            }));
        }
    });
}
