//! `GMP_TRACE`: which files are written, and when.
//!
//! Each case is a process of its own, which runs this binary with the test `in_a_child`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, process, thread};

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{JoinHandle, yield_now};
use rustix::process::{Signal, getpid, kill_process};

use super::decoder::{Decoded, decode};
use super::roll;
use crate::support::{compute_for, current, multi, wait_until};

const CASE: &str = "GMP_TEST_CASE";
const FILE: &str = "GMP_TEST_FILE";

#[test]
fn the_file_is_written_when_the_runtime_ends() {
    let ran = Ran::of("quiet", "");
    assert!(ran.said("the runtime ends: the last "), "{}", ran.text);
    let trace = ran.trace(1).expect("the file");
    assert_eq!(trace.count("quiet"), 1);
    assert_eq!(ran.files, 1);
}

#[test]
fn what_was_overwritten_is_said_of_a_file() {
    let ran = Ran::of("rolls", ",size=64KiB");
    let (_, text) = ran.text.split_once("; all threads' events are there for the last ").expect("it is said");
    let (seconds, rest) = text.split_once(" s, ").unwrap();
    assert!(seconds.parse::<f64>().unwrap() < 100.0, "{}", ran.text);
    let lost = ran.trace(1).unwrap().instants.into_iter().filter(|instant| instant.name == "events lost");
    let lost: u64 = lost.map(|instant| instant.count.unwrap()).sum();
    assert!(lost > 0 && rest.starts_with(&format!("{lost} earlier ones are overwritten\n")), "{lost}: {}", ran.text);
}

#[test]
fn each_runtime_writes_files_of_its_own() {
    let runs =
        [("", "t.pftrace", "t-runtime2.pftrace"), (",roll=4MiB", "t-000001.pftrace", "t-runtime2-000001.pftrace")];
    for (settings, first, second) in runs {
        let ran = Ran::of("two runtimes", settings);
        let marks = |file: &str| {
            let trace = decode(&fs::read(ran.folder.join(file)).expect(file));
            ["first", "second"].map(|mark| trace.count(mark))
        };
        assert_eq!((marks(first), marks(second), ran.files), ([1, 0], [0, 1], 2), "{settings}");
        assert!(ran.said(first) && ran.said(second), "{}", ran.text);
    }
}

#[test]
fn so_many_runtimes_that_they_would_fill_the_disk_are_not_recorded() {
    let ran = Ran::of("many runtimes", "");
    assert_eq!((ran.files, ran.text.matches("no more are\n").count()), (100, 1), "{}", ran.text);
}

#[test]
fn with_another_setting_the_end_writes_nothing() {
    for settings in [",on-take=10s", ",on-panic", ",on-sigquit", ",size=64KiB,on-panic"] {
        let ran = Ran::of("quiet", settings);
        assert_eq!((ran.files, ran.text.contains("gmp: ")), (0, false), "{settings}: {}", ran.text);
    }
}

#[test]
fn each_poll_that_holds_its_thread_for_long_writes_a_file() {
    let ran = Ran::of("blocks", ",on-take=100ms");
    assert!(ran.said(" has held its thread for 100ms: the last "), "{}", ran.text);
    let trace = ran.trace(1).expect("the file");
    assert!(trace.instants.iter().any(|instant| instant.name.ends_with(" taken: the thread sleeps")));
    let mut polls = trace.slices.iter().filter(|slice| slice.track.starts_with('M') && slice.name.contains("files.rs"));
    let poll = polls.find(|poll| poll.end.is_none()).expect("the poll is under way");
    let end = trace.instants.iter().find(|instant| instant.name == "snapshot").unwrap().at;
    assert!(end - poll.begin >= 50_000_000, "it has lasted for that long: {poll:?} until {end}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_file_has_what_the_thread_does() {
    let ran = Ran::of("sleeps", ",on-take=50ms");
    let slices = ran.trace(1).expect("the file").slices;
    let mut calls = slices.iter().filter_map(|slice| slice.asleep_in.as_deref());
    assert!(calls.any(|call| call == "clock_nanosleep"), "{slices:?}");
}

#[test]
fn so_does_each_poll_of_a_known_hog() {
    let ran = Ran::of("blocks again", ",on-take=20ms");
    assert!(ran.said(" has held its thread for 20ms: the last "), "{}", ran.text);
    assert_eq!(ran.files, 3, "{}", ran.text);
}

#[test]
fn so_does_a_poll_on_a_current_thread_runtime() {
    let ran = Ran::of("blocks in place", ",on-take=20ms");
    assert!(ran.said(" has held its thread for 20ms: the last "), "{}", ran.text);
}

#[test]
fn a_panic_writes_a_file_and_the_second_another_up_to_ten() {
    let ran = Ran::of("panics", ",on-panic");
    assert!(ran.said(" has panicked: the last "), "{}", ran.text);
    assert!(ran.said("these were 10 files; no more are written"), "{}", ran.text);
    assert_eq!(ran.files, 10);
    assert!(ran.trace(1).is_some() && ran.trace(10).is_some());
}

#[test]
fn sigquit_writes_a_file_and_prints_the_tasks_and_the_program_goes_on() {
    let ran = Ran::of("sigquit", ",on-sigquit");
    assert!(ran.said("gmp: SIGQUIT: the last "), "{}", ran.text);
    assert!(ran.said("gmp: runtime 1: "), "{}", ran.text);
    assert_eq!(ran.files, 1);
}

/// The runtime is not built, so the program does not run in vain.
#[test]
fn a_file_that_cant_be_written_is_an_error_of_build() {
    for (settings, file) in [("", "t"), (",roll=4MiB", "t-000001"), (",on-panic", "t")] {
        let output = child("quiet").env("GMP_TRACE", format!("/nonexistent/t{settings}")).output().unwrap();
        assert!(!output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(&format!("GMP_TRACE: can't write /nonexistent/{file}: ")), "{text}");
    }
}

/// Neither by trying whether it can be written, nor at the end.
#[test]
fn a_file_of_before_stays_as_it_is_unless_something_goes_wrong() {
    let folder = env::temp_dir().join(format!("gmp-trace-{}-before", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("t");
    fs::write(&file, "before").unwrap();
    let output = child("quiet").env("GMP_TRACE", format!("{},on-panic", file.display())).output().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!((output.status.success(), &*text), (true, "before"));
}

#[test]
fn a_bad_setting_is_an_error_of_build() {
    let output = child("quiet").env("GMP_TRACE", "t,on-tkae=5ms").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("GMP_TRACE: unknown setting `on-tkae=5ms`; allowed are FILE first, then size=SIZE"),
        "{text}"
    );
}

/// What a child has left behind.
pub(super) struct Ran {
    pub(super) folder: PathBuf,
    /// How many files there are.
    pub(super) files: usize,
    pub(super) text: String,
}

impl Ran {
    pub(super) fn of(case: &str, settings: &str) -> Ran {
        let name =
            format!("gmp-trace-{}-{case}-{}", process::id(), settings.replace(['=', ','], "-")).replace(' ', "-");
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("t.pftrace");
        let output = child(case).env("GMP_TRACE", format!("{}{settings}", file.display())).env(FILE, &file).output();
        let output = output.unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        Ran { files: fs::read_dir(&folder).unwrap().count(), folder, text }
    }

    pub(super) fn said(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    fn trace(&self, number: usize) -> Option<Decoded> {
        Some(decode(&fs::read(numbered(&self.folder.join("t.pftrace"), number)).ok()?))
    }
}

impl Drop for Ran {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn numbered(file: &Path, number: usize) -> PathBuf {
    if number == 1 { file.to_owned() } else { file.with_file_name(format!("t-{number}.pftrace")) }
}

fn child(case: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "trace::files::in_a_child", "--nocapture"]).env(CASE, case);
    command
}

/// Does nothing unless it is started as a child.
#[test]
fn in_a_child() {
    let Ok(case) = env::var(CASE) else { return };
    if case == "blocks in place" {
        let runtime = current().build().unwrap();
        return runtime.block_on(runtime.spawn(async { wait_for_file(1) })).unwrap();
    }
    let runtime = multi(2).build().unwrap();
    match &*case {
        "quiet" => runtime.block_on(runtime.spawn(async { gmp_exec::trace::mark("quiet") })).unwrap(),
        "two runtimes" => two_runtimes(&runtime),
        "many runtimes" => (0..102).for_each(|_| drop(current().build().unwrap())),
        "blocks" => blocks(&runtime),
        "blocks again" => blocks_again(&runtime),
        "sleeps" => sleeps(&runtime),
        "rolls" => roll::rolls(&runtime),
        "rolls for long" => roll::rolls_for_long(&runtime, &file()),
        "rolls slowly" => roll::rolls_slowly(&runtime, &file()),
        "panics" => (0..12).for_each(|_| {
            runtime.block_on(runtime.spawn(async { panic!("asked for") })).unwrap_err();
        }),
        "sigquit" => {
            kill_process(getpid(), Signal::QUIT).unwrap();
            wait_for_file(1);
        }
        other => panic!("unknown case {other}"),
    }
}

fn two_runtimes(first: &Runtime) {
    let second = current().build().unwrap();
    let mark = |runtime: &Runtime, name| runtime.block_on(runtime.spawn(async move { gmp_exec::trace::mark(name) }));
    mark(first, "first").unwrap();
    mark(&second, "second").unwrap();
}

/// Waits until that file has been begun. The end of the runtime waits until it is complete. Another
/// thread looks for the file, so that this one sleeps all the time: on a busy computer, a thread
/// that wakes up often mostly waits for a core.
fn wait_for_file(number: usize) {
    thread::spawn(move || wait_until(|| is_there(number))).join().unwrap();
}

fn is_there(number: usize) -> bool {
    numbered(&file(), number).exists()
}

fn file() -> PathBuf {
    PathBuf::from(env::var_os(FILE).unwrap())
}

/// A task that blocks three times. The others want its processor, so that it is known as a hog
/// after the first time.
fn blocks_again(runtime: &Runtime) {
    let task = runtime.spawn(async {
        for number in 1..=3 {
            wait_for_file(number);
            yield_now().await;
        }
    });
    run_beside(runtime, task, 4, || async {
        while !is_there(3) {
            yield_now().await
        }
    });
}

/// A task that sleeps beside others that want its processor.
fn sleeps(runtime: &Runtime) {
    let task = runtime.spawn(async { thread::sleep(Duration::from_secs(2)) });
    run_beside(runtime, task, 2, || async { compute_for(Duration::from_millis(100)) });
}

/// A task that blocks until there is a file, beside others that want its processor.
fn blocks(runtime: &Runtime) {
    let task = runtime.spawn(async { wait_for_file(1) });
    run_beside(runtime, task, 2, || async {
        while !is_there(1) {
            compute_for(Duration::from_millis(5));
            yield_now().await;
        }
    });
}

/// Waits for the task, and for so many others that are spawned after it.
fn run_beside<F>(runtime: &Runtime, task: JoinHandle<()>, others: usize, other: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let others: Vec<_> = (0..others).map(|_| runtime.spawn(other())).collect();
    runtime.block_on(task).unwrap();
    others.into_iter().for_each(|other| runtime.block_on(other).unwrap());
}
