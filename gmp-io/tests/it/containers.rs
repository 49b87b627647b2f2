//! A service in places where little is allowed: as process 1, without /proc, on a root that can't be
//! written to, under filters of system calls, and with small limits. docs/settings.md says what is
//! different there.
//!
//! A shell script confines itself and then runs its arguments, a test of this binary. Where the system
//! refuses that even to `true`, as in containers that may have no containers inside, a line says so.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, id};
use std::sync::mpsc;
use std::time::Duration;

use futures::future::join_all;
use gmp_exec::runtime::Builder;
use gmp_exec::spawn;
use gmp_exec::task::spawn_blocking;
use gmp_exec::time::sleep;
use gmp_io::signal::unix::SignalKind;
use gmp_io::{fs, process, signal};
use rustix::process::{Signal, getpid, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::filter::fail;
use crate::support::{in_child, pair, within_deadline};

#[test]
fn as_process_1() {
    confined("as_process_1", r#"exec unshare --pid --fork --kill-child --mount-proc -- "$@""#, || {
        assert_eq!(id(), 1);
        serve();
    });
}

#[test]
fn without_proc() {
    confined("without_proc", r#"mount -t tmpfs none /proc && exec "$@""#, || {
        assert!(!std::fs::exists("/proc/self").expect("known"));
        serve();
    });
}

#[test]
fn on_a_root_that_cannot_be_written_to() {
    confined("on_a_root_that_cannot_be_written_to", r#"mount -o remount,bind,ro / && exec "$@""#, || {
        std::fs::write("/gmp-test", "").expect_err("read-only");
        serve();
    });
}

/// As profiles of containers do that were written before these calls.
#[test]
fn where_calls_are_refused() {
    in_filter("where_calls_are_refused", libc::EPERM);
}

/// As kernels do that don't have these calls, gVisor among them.
#[test]
fn where_calls_are_unknown() {
    in_filter("where_calls_are_unknown", libc::ENOSYS);
}

#[test]
fn in_64_mib_of_address_space() {
    // No thread is started beyond the number of processors: each blocked task would keep one.
    let script = r#"exec prlimit --as=67108864 "$@""#;
    confined("in_64_mib_of_address_space", script, || serve_with_blocked(0));
}

#[test]
fn in_64_mib_of_memory() {
    let script = in_cgroup([("memory", "memory.limit_in_bytes", "67108864"), ("", "memory.max", "67108864")]);
    confined("in_64_mib_of_memory", &script, serve);
}

/// Counted are the threads of the user, in a namespace that has no others.
#[test]
fn with_32_threads_of_the_user() {
    let nobody = if is_root() { "setpriv --reuid=65534 --regid=65534 --clear-groups " } else { "" };
    let script = format!("exec {nobody}unshare --user prlimit --nproc=32 \"$@\"");
    confined("with_32_threads_of_the_user", &script, || serve_with_blocked(16));
}

#[test]
fn with_32_threads_in_the_cgroup() {
    let script = in_cgroup([("pids", "pids.max", "32"), ("", "pids.max", "32")]);
    confined("with_32_threads_in_the_cgroup", &script, || serve_with_blocked(16));
}

#[test]
fn with_a_tenth_of_a_cpu() {
    let script = in_cgroup([("cpu", "cpu.cfs_quota_us", "10000"), ("", "cpu.max", "10000 100000")]);
    confined("with_a_tenth_of_a_cpu", &script, || {
        let runtime = Builder::new_multi_thread().build().expect("a runtime");
        assert_eq!(runtime.metrics().num_workers(), 1);
        drop(runtime);
        serve();
    });
}

/// Runs `test` in a process of its own, which `script` confines.
fn confined(name: &str, script: &str, test: impl FnOnce()) {
    const CONFINED: &str = "GMP_IO_TEST_CONFINED";
    if env::var_os(CONFINED).is_some() {
        return test();
    }
    let namespaces: &[&str] = if is_root() { &["--mount"] } else { &["--user", "--map-root-user", "--mount"] };
    let shell = |arguments: &[&str]| {
        // A process that hangs does not end by itself.
        let mut command = Command::new("timeout");
        command
            .args(["100", "unshare"])
            .args(namespaces)
            .args(["sh", "-c", script, "sh"])
            .args(arguments)
            .env(CONFINED, "1");
        command.output().expect("timeout is there")
    };
    let probe = shell(&["true"]);
    if !probe.status.success() {
        return println!("skipped: {}", String::from_utf8_lossy(&probe.stderr));
    }
    let this = env::current_exe().expect("this binary");
    let test = format!("containers::{name}");
    let output = shell(&[this.to_str().expect("a name in UTF-8"), &test, "--exact", "--nocapture", "--test-threads=1"]);
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{errors}");
    assert!(output.status.success() && text.contains("1 passed"), "{}: {text}\n{errors}", output.status);
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// In a new cgroup of version 1 or 2 with this limit: the hierarchy of version 1, the file, and the
/// value.
fn in_cgroup(limits: [(&str, &str, &str); 2]) -> String {
    let tries = limits.map(|(hierarchy, file, value)| format!("limit '/sys/fs/cgroup/{hierarchy}' {file} '{value}'"));
    format!(
        r#"limit() {{
            parent=$1 group=$1/gmp-test-$$
            mkdir "$group" && {{ echo "$3" > "$group/$2" && echo $$ > "$group/cgroup.procs" || ! rmdir "$group"; }}
        }}
        {} || exit
        "$@"
        result=$?
        echo $$ > "$parent/cgroup.procs"
        rmdir "$group"
        exit $result"#,
        tries.join(" || ")
    )
}

/// A filter that was there before the process began.
fn in_filter(name: &str, error: i32) {
    const FILTERED: &str = "GMP_IO_TEST_FILTERED";
    in_child(&format!("containers::{name}"), || {
        if env::var_os(FILTERED).is_some() {
            return serve();
        }
        fail(&UNUSUAL, error);
        let mut this = Command::new(env::current_exe().expect("this binary"));
        panic!("{}", this.args(env::args_os().skip(1)).env(FILTERED, "1").exec());
    });
}

/// What gmp asks of the kernel and few other programs do, and what profiles of containers refuse.
const UNUSUAL: [libc::c_long; 14] = [
    libc::SYS_bpf,
    libc::SYS_copy_file_range,
    libc::SYS_io_uring_setup,
    libc::SYS_membarrier,
    libc::SYS_openat2,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_open,
    libc::SYS_preadv2,
    libc::SYS_process_vm_readv,
    libc::SYS_sched_getattr,
    libc::SYS_sched_setattr,
    libc::SYS_statx,
    libc::SYS_timerfd_create,
    libc::SYS_userfaultfd,
];

fn serve() {
    serve_with_blocked(4);
}

/// All that a service does, while so many tasks block their threads until other tasks have run.
fn serve_with_blocked(count: usize) {
    let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(within_deadline(async {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel()).unzip();
        let blocked = join_all(receivers.into_iter().map(|receiver| spawn(async move { receiver.recv() })));
        let services = spawn(async move {
            sleep(Duration::from_millis(20)).await;
            tokio::join!(echo(), files(), child(), interrupted(), closure());
            senders.into_iter().for_each(|sender| sender.send(()).expect("the task waits"));
        });
        services.await.expect("served");
        assert!(blocked.await.into_iter().all(|task| task.expect("has run").is_ok()));
    }));
}

async fn echo() {
    let (mut client, mut server) = pair().await;
    client.write_all(b"text").await.expect("sent");
    let mut received = [0; 4];
    server.read_exact(&mut received).await.expect("received");
    assert_eq!(&received, b"text");
}

async fn files() {
    assert!(!fs::read("/etc/passwd").await.expect("read").is_empty());
}

async fn child() {
    assert!(process::Command::new("true").status().await.expect("started").success());
}

async fn interrupted() {
    let mut signals = signal::unix::signal(SignalKind::user_defined2()).expect("listening");
    kill_process(getpid(), Signal::USR2).expect("sent");
    signals.recv().await.expect("received");
}

async fn closure() {
    assert_eq!(spawn_blocking(|| 7).await.expect("has run"), 7);
}
