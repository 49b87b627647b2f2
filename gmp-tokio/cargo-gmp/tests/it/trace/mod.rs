//! `cargo gmp trace` says what is true: each test records a program, and knows by itself, from
//! clocks and counters of its own, what the report has to say.

mod files;
mod told;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;
use gmp_exec::trace::Recorder;
use rustix::time::{ClockId, clock_gettime};

use self::told::{Told, tell};

fn multi(processors: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(processors).enable_all().build().unwrap()
}

/// Of the calling thread.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

/// Computes until the thread has used so much CPU time.
fn compute(time: Duration) {
    let begin = cpu_time();
    while cpu_time() - begin < time {}
}

fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(100);
    while !condition() {
        assert!(Instant::now() < deadline, "waited for too long");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Until all polls are over and recorded.
fn rest(runtime: &Runtime, processors: usize) {
    wait_until(|| runtime.metrics().num_alive_tasks() == 0 && runtime.metrics().num_idle_workers() == processors);
}

/// Four tasks keep both processors busy, and their threads overwrite their events again and again.
/// Other threads have recorded little, at the beginning.
#[test]
fn a_busy_program_is_told_as_busy_although_its_events_were_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pftrace");
    child("busy", &path);
    let truth = fs::read_to_string(truth_beside(&path)).unwrap();
    let truth: Vec<f64> = truth.split(' ').map(|number| number.parse().unwrap()).collect();
    let [overwritten, cores, longest_wait] = truth[..] else { panic!("{truth:?}") };
    let told = tell(&[path]);
    assert!(overwritten > 10_000.0);
    assert!(told.text.contains(&format!("{overwritten} events are missing (")), "{}", told.text);
    let about = told.time_after("all that follows is about the ");
    assert!(about < told.length() / 2.0, "{about} s");
    // On two processors of an idle computer: 2. On a busy computer, less.
    let busy = told.share_of("trace/mod.rs") / 100.0 * 2.0;
    assert!(busy > cores / 3.0, "{busy} of {cores} cores: {}", told.text);
    let nothing_ran = told.percent_after("nothing ran: ");
    assert!(nothing_ran < 100.0 - 25.0 * cores, "on {cores} cores: {}", told.text);
    let told_wait = told.time_after("  longest ");
    assert!(told_wait > 0.0 && told_wait <= longest_wait * 1.01, "not {longest_wait} s: {}", told.text);
}

/// In a child, whose CPU time is this program's. Writes the truth beside the recording.
fn record_busy(path: &Path) {
    let runtime = multi(2);
    let recorder = Recorder::start_with_size(runtime.handle(), 1 << 20).unwrap();
    runtime.block_on(runtime.spawn(async { sleep(Duration::from_millis(1)).await })).unwrap();
    runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
    let (is_over, longest_wait) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (begin, cpu_begin) = (Instant::now(), process_cpu_time());
    let tasks: Vec<_> = (0..4).map(|_| runtime.spawn(busy(is_over.clone(), longest_wait.clone()))).collect();
    wait_until(|| recorder.snapshot().overwritten() > 500_000);
    let snapshot = recorder.snapshot();
    let cores = (process_cpu_time() - cpu_begin).as_secs_f64() / begin.elapsed().as_secs_f64();
    is_over.store(true, SeqCst);
    tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
    snapshot.write_perfetto(fs::File::create(path).unwrap()).unwrap();
    let longest_wait = Duration::from_nanos(longest_wait.load(SeqCst)).as_secs_f64();
    fs::write(truth_beside(path), format!("{} {cores} {longest_wait}", snapshot.overwritten())).unwrap();
}

fn truth_beside(path: &Path) -> PathBuf {
    path.with_extension("truth")
}

const CASE: &str = "GMP_TEST_CASE";
const FILE: &str = "GMP_TEST_FILE";

/// Records in a process of its own, and returns the process's number.
fn child(case: &str, path: &Path) -> u32 {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "trace::in_a_child"]).env(CASE, case).env(FILE, path).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    assert!(child.wait().unwrap().success());
    child.id()
}

/// Does nothing unless it is started as a child.
#[test]
fn in_a_child() {
    let (Ok(case), Ok(path)) = (env::var(CASE), env::var(FILE)) else { return };
    match &*case {
        "busy" => record_busy(path.as_ref()),
        "short" => files::record(path.as_ref(), 10),
        other => panic!("unknown case {other}"),
    }
}

/// Yields all the time, and keeps the longest time that a yield took.
async fn busy(is_over: Arc<AtomicBool>, longest_wait: Arc<AtomicU64>) {
    while !is_over.load(SeqCst) {
        let begin = Instant::now();
        yield_now().await;
        longest_wait.fetch_max(begin.elapsed().as_nanos() as u64, SeqCst);
    }
}

fn process_cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap()
}

/// The task loses its processor to another one, which is over soon, and goes on without.
#[test]
fn work_without_a_processor_is_work() {
    let runtime = multi(1);
    let recorder = Recorder::start(runtime.handle()).unwrap();
    let line = line!() + 1;
    let task = runtime.spawn(async {
        let begin = cpu_time();
        compute(Duration::from_millis(500));
        cpu_time() - begin
    });
    runtime.block_on(runtime.spawn(async {})).unwrap();
    let cpu = runtime.block_on(task).unwrap().as_secs_f64();
    rest(&runtime, 1);
    let told = Told::of(&recorder.stop());
    let row = told.row(&format!("trace/mod.rs:{line}"));
    assert!(row.with_processor + row.without >= cpu * 0.99, "{row:?} of {cpu} s: {}", told.text);
    assert!(row.without > cpu / 2.0, "{row:?}: {}", told.text);
    assert_eq!(row.polls, 1, "{}", told.text);
    assert!(row.longest >= cpu * 0.99, "{row:?}");
    let length = told.length();
    assert!(told.time_in("nothing ran: ") <= length - cpu * 0.99, "{}", told.text);
    assert!(told.time_in("only threads without a processor were in polls: ") > 0.0, "{}", told.text);
    assert!(told.text.contains(&format!("the thread computes, task spawned at {}:{line}\n", file!())), "{}", told.text);
}

/// The polls of tasks that are known to hold their threads begin without a processor.
#[test]
fn polls_are_counted_as_the_program_counts_them() {
    let runtime = multi(2);
    let recorder = Recorder::start(runtime.handle()).unwrap();
    let counts: [Arc<AtomicU64>; 2] = Default::default();
    let hogs = line!() + 2;
    let tasks: Vec<_> =
        (0..4).map(|_| runtime.spawn(polled(counts[0].clone(), 8, || compute(Duration::from_millis(15))))).collect();
    let quick = line!() + 1;
    let others: Vec<_> = (0..4).map(|_| runtime.spawn(polled(counts[1].clone(), 5_000, || ()))).collect();
    let closures = line!() + 1;
    let closure = runtime.spawn_blocking(|| thread::sleep(Duration::from_millis(20)));
    tasks.into_iter().chain(others).for_each(|task| runtime.block_on(task).unwrap());
    runtime.block_on(closure).unwrap();
    rest(&runtime, 2);
    let snapshot = recorder.stop();
    assert_eq!(snapshot.overwritten(), 0);
    let told = Told::of(&snapshot);
    for (line, count) in [(hogs, &counts[0]), (quick, &counts[1])] {
        let row = told.row(&format!("trace/mod.rs:{line}"));
        assert_eq!(row.polls, count.load(SeqCst), "{}", told.text);
        assert!(row.longest <= row.with_processor + row.without + row.asleep, "{row:?}: {}", told.text);
    }
    let row = told.row(&format!("trace/mod.rs:{closures}, closures"));
    assert_eq!((row.polls, row.share), (1, None), "whether it worked is not known: {}", told.text);
    assert!(row.longest >= 0.02, "{row:?}");
    told.rows().for_each(|row| assert!(row.polls > 0, "{row:?}"));
}

async fn polled(count: Arc<AtomicU64>, times: usize, work: fn()) {
    for _ in 1..times {
        count.fetch_add(1, SeqCst);
        work();
        yield_now().await;
    }
    count.fetch_add(1, SeqCst);
}

/// Two tasks that are never woken at the same time, so nothing runs in most of the time.
#[test]
fn a_program_that_mostly_waits_is_told_as_such() {
    let runtime = multi(2);
    let recorder = Recorder::start(runtime.handle()).unwrap();
    let begin = process_cpu_time();
    runtime
        .block_on(runtime.spawn(async {
            for _ in 0..10 {
                sleep(Duration::from_millis(20)).await;
            }
        }))
        .unwrap();
    rest(&runtime, 2);
    let told = Told::of(&recorder.stop());
    let worked = (process_cpu_time() - begin).as_secs_f64();
    // Other tests of this process work, too.
    assert!(told.time_in("nothing ran: ") >= 0.15 - worked.min(0.1), "{}", told.text);
    assert!(!told.text.contains("events are missing"), "{}", told.text);
}

/// A recording goes on after a snapshot of it, as with `on-take`.
#[test]
fn snapshots_of_one_recording_count_each_poll_once() {
    let runtime = multi(2);
    let recorder = Recorder::start(runtime.handle()).unwrap();
    let line = line!() + 1;
    let task = |count: &Arc<AtomicU64>| runtime.spawn(polled(count.clone(), 1_000, || ()));
    let count = Arc::new(AtomicU64::new(0));
    runtime.block_on(task(&count)).unwrap();
    rest(&runtime, 2);
    let first = recorder.snapshot();
    runtime.block_on(task(&count)).unwrap();
    rest(&runtime, 2);
    let second = recorder.stop();
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = [("first", first), ("second", second)].map(|(name, snapshot)| {
        let path = folder.path().join(name);
        snapshot.write_perfetto(std::fs::File::create(&path).unwrap()).unwrap();
        path
    });
    for files in [[&first, &second], [&second, &first]] {
        let told = tell(&files);
        assert_eq!(told.row(&format!("trace/mod.rs:{line}")).polls, count.load(SeqCst), "{}", told.text);
    }
}
