//! The environment variables: their effects, and the errors of `build` for invalid values.
//!
//! A process has one environment, and changing it is not safe while other threads run. So each case
//! is a child process: it runs this binary, with one of the tests named `in_a_child`, which do
//! nothing in the parent.

use std::process::{Command, Output};
use std::time::Duration;
use std::{env, io};

use gmp_exec::runtime::Builder;

const CASE: &str = "GMP_TEST_CASE";

#[test]
fn maxprocs_is_the_default_number_of_processors() {
    for procs in ["1", "3", "1024"] {
        assert_eq!(build_with("GMP_MAXPROCS", procs), format!("processors: {procs}"));
    }
}

#[test]
fn a_bad_maxprocs_is_an_error_that_names_variable_value_and_range() {
    for value in ["0", "1025", "-1", "four", "2.5", ""] {
        let error = build_with("GMP_MAXPROCS", value);
        let expected =
            format!("the environment variable GMP_MAXPROCS is {value:?}, but must be a whole number from 1 to 1024");
        assert_eq!(error, format!("error: InvalidInput: {expected}"));
    }
}

/// As container images and deployments set it for tokio.
#[test]
fn tokios_variable_counts_where_gmps_is_not_set() {
    assert_eq!(build_with("TOKIO_WORKER_THREADS", "7"), "processors: 7");
    for value in ["0", "abc"] {
        let error = build_with("TOKIO_WORKER_THREADS", value);
        let expected = "error: InvalidInput: the environment variable TOKIO_WORKER_THREADS is ";
        assert!(error.starts_with(expected), "{error}");
    }
}

/// Also if the program sets the number itself.
#[test]
fn a_bad_maxprocs_is_an_error_beside_worker_threads() {
    let build = |value| result(&run_child("GMP_MAXPROCS", value, "environment::in_a_child_with_workers"));
    assert_eq!(build("4"), "processors: 2");
    for value in ["0", "abc"] {
        assert!(build(value).starts_with("error: InvalidInput: the environment variable GMP_MAXPROCS is "));
    }
}

#[test]
fn a_misspelt_name_is_told_once() {
    for (name, told) in [("GMP_BLOKED", 1), ("GMP_LIB_DIR", 0)] {
        let output = run_child(name, "summary", "environment::in_a_child_with_workers");
        let text = String::from_utf8(output.stderr).unwrap();
        let line = format!("gmp: unknown setting {name}; did you mean GMP_BLOCKED?\n");
        assert_eq!(text.matches(&line).count(), told, "{text}");
    }
}

#[test]
fn in_a_child_with_workers() {
    if is_child() {
        (0..2).for_each(|_| report(Builder::new_multi_thread().worker_threads(2)));
    }
}

#[test]
fn a_bad_debug_setting_is_an_error_that_names_variable_value_and_range() {
    for (value, expected) in [
        ("schedtrace=0", "GMP_DEBUG: schedtrace=0 is not a period; allowed are whole milliseconds from 1 to 3600000"),
        ("schedtrace=x", "GMP_DEBUG: schedtrace=x is not a period; allowed are whole milliseconds from 1 to 3600000"),
        ("scheddetail=2", "GMP_DEBUG: scheddetail=2 is not a switch; allowed are 0 and 1"),
        (
            "schedtrace=5,gctrace=1",
            "GMP_DEBUG: unknown setting `gctrace`; allowed are schedtrace=MILLISECONDS, scheddetail=0|1, sigquit=0|1|lines and asks=0|1",
        ),
    ] {
        assert_eq!(build_with("GMP_DEBUG", value), format!("error: InvalidInput: {expected}"));
    }
}

#[test]
fn a_bad_setting_of_what_is_printed_is_an_error_that_names_what_is_allowed() {
    let expected = "GMP_BLOCKED: unknown setting `stacks`; allowed are print, summary and signal";
    assert_eq!(build_with("GMP_BLOCKED", "print,stacks"), format!("error: InvalidInput: {expected}"));
}

#[test]
#[cfg(not(feature = "insight"))]
fn a_build_without_a_recorder_says_so() {
    let output = run_child("GMP_TRACE", "t.pftrace", "environment::in_a_child");
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("gmp: ")).collect();
    assert_eq!(lines, ["gmp: GMP_TRACE: nothing is recorded, because gmp-exec was built without `insight`"]);
}

#[test]
fn a_bad_setting_of_time_slices_is_an_error_that_names_what_is_allowed() {
    let expected = "GMP_TIME_SLICES: unknown setting \"long\"; allowed are on and off";
    assert_eq!(build_with("GMP_TIME_SLICES", "long"), format!("error: InvalidInput: {expected}"));
    for setting in ["on", "off"] {
        assert!(build_with("GMP_TIME_SLICES", setting).starts_with("processors: "));
    }
}

#[test]
fn a_thousand_polls_that_block_print_about_ten_lines() {
    let output = run_child("GMP_BLOCKED", "print", "environment::in_a_child_that_blocks");
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("gmp: blocked ")).collect();
    // With stacks the program's line numbers are read before the first line is printed. Many polls
    // are over by then.
    let least = if cfg!(feature = "blocked-stacks") { 1 } else { 5 };
    assert!((least..=12).contains(&lines.len()), "{text}");
    assert!(lines[0].contains("environment.rs:"), "{text}");
    // Records gather for a moment before they are printed, so the count need not be 512. It must be
    // more than a quarter of all polls.
    let last = lines.last().unwrap().trim_start_matches("gmp: blocked ").split('x').next().unwrap();
    assert!((300..=1_000).contains(&last.parse::<u32>().unwrap()), "{text}");
}

#[test]
fn the_summary_comes_at_the_end_of_the_runtime() {
    let output = run_child("GMP_BLOCKED", "summary", "environment::in_a_child_that_blocks");
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("gmp: blocked ")).collect();
    // On a crowded machine a poll may also be found to compute.
    assert_eq!(lines.len(), 1, "{text}");
    assert!(lines[0].contains("task spawned at ") && lines[0].contains("environment.rs:"), "{text}");
}

/// The program ends as soon as the task's result is there, before the machine has recorded the end
/// of the poll.
#[test]
fn a_poll_that_ends_with_the_program_is_over_in_the_summary() {
    for _ in 0..5 {
        let output = run_child("GMP_BLOCKED", "summary", "environment::in_a_child_that_blocks_once");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("gmp: blocked 1x"), "{text}");
        assert!(!text.contains("under way"), "{text}");
    }
}

/// With the variable, a current-thread runtime is watched.
#[test]
fn the_summary_of_a_current_thread_runtime_has_the_future_of_block_on() {
    let output = run_child("GMP_BLOCKED", "summary", "environment::in_a_child_that_blocks_in_block_on");
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().find(|line| line.starts_with("gmp: blocked 1x")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains(": future of block_on at ") && line.contains("environment.rs:"), "{text}");
    assert!(!line.contains("under way"), "{text}");
    let output = run_child("GMP_MAXPROCS", "2", "environment::in_a_child_that_blocks_in_block_on");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("gmp: "));
}

#[test]
fn nothing_is_printed_unless_it_is_asked_for() {
    let output = run_child("GMP_MAXPROCS", "2", "environment::in_a_child_that_blocks");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!text.contains("gmp: "), "{text}");
}

#[test]
fn a_program_that_does_not_block_is_told_that_it_was_watched() {
    for (setting, expected) in
        [("print,summary", vec!["gmp: GMP_BLOCKED: watched, nothing found"]), ("print,signal", vec![])]
    {
        let output = run_child("GMP_BLOCKED", setting, "environment::in_a_child_for_a_while");
        let text = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("gmp: ")).collect();
        assert_eq!(lines, expected, "{text}");
    }
}

#[test]
fn a_number_in_the_program_comes_before_the_variable() {
    let output = run_child("GMP_MAXPROCS", "7", "environment::in_a_child_with_two_processors");
    assert_eq!(result(&output), "processors: 2");
}

#[test]
fn schedtrace_writes_lines_like_gos() {
    let output = run_child("GMP_DEBUG", "schedtrace=20,scheddetail=1", "environment::in_a_child_for_a_while");
    let trace = String::from_utf8(output.stderr).unwrap();
    let line = trace.lines().find(|line| line.starts_with("SCHED ")).expect("there is no trace");
    for part in ["ms: gomaxprocs=2 idleprocs=", " threads=", " spinningthreads=", " idlethreads=", " runqueue="] {
        assert!(line.contains(part), "{part} is missing: {line}");
    }
    assert!(trace.lines().any(|line| line.starts_with("  P1: schedtick=")), "{trace}");
}

#[test]
fn schedtrace_says_that_the_number_of_processors_has_changed() {
    let output = run_child("GMP_DEBUG", "schedtrace=20", "environment::in_a_child_that_resizes");
    let trace = String::from_utf8(output.stderr).unwrap();
    assert!(
        trace.lines().any(|line| line.starts_with("SCHED ") && line.ends_with("ms: gomaxprocs=5 before=2")),
        "{trace}"
    );
    assert!(trace.contains("ms: gomaxprocs=5 idleprocs="), "{trace}");
}

// ---- the children ----

#[test]
fn in_a_child_that_resizes() {
    if is_child() {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        for count in [2, 5] {
            runtime.handle().set_max_procs(count).unwrap();
            runtime.block_on(async { gmp_exec::time::sleep(Duration::from_secs(1)).await });
        }
    }
}

#[test]
fn in_a_child() {
    if is_child() {
        report(&mut Builder::new_multi_thread());
    }
}

#[test]
fn in_a_child_with_two_processors() {
    if is_child() {
        report(Builder::new_multi_thread().worker_threads(2));
    }
}

#[test]
fn in_a_child_for_a_while() {
    if is_child() {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(async { gmp_exec::time::sleep(Duration::from_secs(2)).await });
    }
}

/// A thousand polls of one task hold their threads, and another task needs the only processor.
#[test]
fn in_a_child_that_blocks() {
    if is_child() {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        runtime.spawn(async {
            loop {
                gmp_exec::time::sleep(Duration::from_millis(1)).await;
            }
        });
        let task = runtime.spawn(async {
            for _ in 0..1_000 {
                std::thread::sleep(Duration::from_millis(3));
                gmp_exec::task::yield_now().await;
            }
        });
        runtime.block_on(task).unwrap();
    }
}

#[test]
fn in_a_child_that_blocks_once() {
    if is_child() {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(runtime.spawn(async { std::thread::sleep(Duration::from_millis(100)) })).unwrap();
    }
}

#[test]
fn in_a_child_that_blocks_in_block_on() {
    if is_child() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            gmp_exec::time::sleep(Duration::from_millis(1)).await;
            std::thread::sleep(Duration::from_millis(200));
        });
    }
}

fn report(builder: &mut Builder) {
    match builder.build() {
        Ok(runtime) => println!("\nresult processors: {}", runtime.metrics().num_workers()),
        Err(error) => println!("\nresult error: {:?}: {error}", io::Error::kind(&error)),
    }
}

fn is_child() -> bool {
    env::var_os(CASE).is_some()
}

// ---- the parent ----

fn build_with(variable: &str, value: &str) -> String {
    result(&run_child(variable, value, "environment::in_a_child"))
}

fn run_child(variable: &str, value: &str, test: &str) -> Output {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "--nocapture", test]);
    child
        .env_remove("GMP_MAXPROCS")
        .env_remove("TOKIO_WORKER_THREADS")
        .env_remove("GMP_DEBUG")
        .env_remove("GMP_BLOCKED")
        .env_remove("GMP_TIME_SLICES")
        .env(CASE, "1")
        .env(variable, value);
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

fn result(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let result = text.lines().find_map(|line| line.strip_prefix("result "));
    result.unwrap_or_else(|| panic!("there is no result: {output:?}")).to_owned()
}
