//! A child can ask to be killed with its parent, which for Linux is the thread that started it.

use std::env;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use futures::future::join_all;
use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::blocking;
use gmp_io::process::{Child, Command};
use rustix::process::{Signal, set_parent_process_death_signal};
use tokio::io::AsyncReadExt;

use crate::support::{eventually, within_deadline};

const PROCESSORS: usize = 2;
const CHILDREN: usize = 8;
/// Tasks that start no child, on threads of their own.
const OTHERS: usize = 8;

const CHILD: &str = "GMP_IO_TEST_DIES_WITH_ITS_PARENT";

#[test]
fn children_live_although_the_threads_that_have_started_them_are_idle() {
    if env::var_os(CHILD).is_some() {
        return die_with_parent();
    }
    let (runtime, threads) = runtime();
    runtime.block_on(within_deadline(async {
        let mut children = start_children().await;
        // One of the idle threads sleeps in the reactor, and stays.
        eventually(async || (threads() <= CHILDREN + 1).then_some(())).await;
        for child in &mut children {
            assert!(child.try_wait().expect("asked").is_none(), "it has died");
        }
        // Half of them are waited for, the others dropped.
        for (n, mut child) in children.into_iter().enumerate() {
            drop(child.stdin.take());
            if n % 2 == 0 {
                assert!(child.wait().await.expect("exited").success());
            }
        }
        eventually(async || (threads() <= PROCESSORS).then_some(())).await;
    }));
}

/// A child that ends at the end of its input, or with its parent.
fn die_with_parent() {
    set_parent_process_death_signal(Some(Signal::KILL)).expect("received");
    std::io::stderr().write_all(b"!").expect("written");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("read");
}

/// A runtime whose threads end at once when idle, and a counter of its threads.
fn runtime() -> (Runtime, impl Fn() -> usize) {
    let (started, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (start, end) = (started.clone(), ended.clone());
    let runtime = Builder::new_multi_thread()
        .worker_threads(PROCESSORS)
        .thread_keep_alive(Duration::from_millis(1))
        .on_thread_start(move || {
            start.fetch_add(1, SeqCst);
        })
        .on_thread_stop(move || {
            end.fetch_add(1, SeqCst);
        })
        .enable_all()
        .build()
        .expect("a runtime");
    (runtime, move || started.load(SeqCst) - ended.load(SeqCst))
}

/// All of them on different threads, and all of them ready.
async fn start_children() -> Vec<Child> {
    let all_run = Arc::new(Barrier::new(CHILDREN + OTHERS));
    let tasks = (0..CHILDREN + OTHERS).map(|n| {
        let all_run = all_run.clone();
        gmp_exec::spawn(async move {
            blocking(|| all_run.wait());
            (n < CHILDREN).then(start_child)
        })
    });
    let children = join_all(tasks).await.into_iter().filter_map(|child| child.expect("no panic"));
    join_all(children.map(async |mut child| {
        let stderr = child.stderr.as_mut().expect("piped");
        assert_eq!(stderr.read_u8().await.expect("it is ready"), b'!');
        child
    }))
    .await
}

fn start_child() -> Child {
    let this_test = "process_parents::children_live_although_the_threads_that_have_started_them_are_idle";
    Command::new(env::current_exe().expect("this binary"))
        .args([this_test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started")
}
