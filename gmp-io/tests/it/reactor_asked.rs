//! A program that sleeps in the reactor is asked for its tasks.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use gmp_exec::task::spawn_blocking;
use tokio::io::AsyncReadExt;

use crate::support::{current_thread, in_child, pair};

#[test]
#[cfg(target_os = "linux")]
fn the_thread_that_sleeps_in_the_reactor_answers() {
    in_child("reactor_asked::the_thread_that_sleeps_in_the_reactor_answers", || {
        let answer = current_thread().block_on(async {
            let (mut connection, _other_end) = pair().await;
            gmp_exec::spawn(async move { connection.read_u8().await });
            spawn_blocking(ask).await.expect("answered")
        });
        assert!(answer.starts_with("gmp 1\nruntime 1: 1 task and 1 blocking closure\n"), "{answer}");
        assert!(answer.contains(" waits to read from 127.0.0.1:"), "{answer}");
    });
}

/// Lets a shell ask every thread of this process in turn, until one has answered.
fn ask() -> String {
    let script = "printf gmp-tasks:1 > /proc/$$/comm
        while :; do for thread; do kill -URG $thread || exit; sleep 0.02; done; done";
    let threads = fs::read_dir("/proc/self/task").expect("Linux");
    let threads = threads.map(|thread| thread.expect("a thread").file_name());
    let mut asker = Command::new("sh");
    asker.args(["-c", script, "sh"]).args(threads).stdout(Stdio::piped());
    let mut asker = asker.spawn().expect("started");
    let mut answer = Vec::new();
    BufReader::new(asker.stdout.take().expect("a pipe")).read_until(0, &mut answer).expect("read");
    asker.kill().expect("killed");
    asker.wait().expect("ended");
    String::from_utf8(answer).expect("a text")
}
