//! What a runtime says at its end, and how a test fails. Each case is a test in a child process.

use std::future::pending;
use std::process::{Command, Output};

use gmp_exec::runtime::{Builder, Leaks, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use crate::support::panic_message;

const CASE: &str = "GMP_TEST_CASE";

fn run_child(case: &str, leaks: Option<&str>) -> (Output, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let test = format!("lost::at_the_end::{case}");
    command.args([&test, "--exact", "--nocapture", "--test-threads=1"]).env(CASE, "1").env_remove("GMP_LEAKS");
    if let Some(leaks) = leaks {
        command.env("GMP_LEAKS", leaks);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    (output, text)
}

fn is_child() -> bool {
    std::env::var(CASE).is_ok()
}

async fn leak() {
    if is_child() {
        spawn(pending::<()>());
        yield_now().await;
    }
}

#[gmp_exec::test]
async fn in_a_child_by_default() {
    leak().await;
}

#[gmp_exec::test(leaks = "warn")]
async fn in_a_child_that_warns() {
    leak().await;
}

#[gmp_exec::test(leaks = "deny")]
async fn in_a_child_that_denies() {
    leak().await;
}

#[gmp_exec::test(leaks = "off")]
async fn in_a_child_that_does_not_look() {
    leak().await;
}

#[gmp_exec::test]
async fn in_a_child_that_hangs() {
    if is_child() {
        spawn(pending::<()>()).await.unwrap();
    }
}

#[test]
fn a_test_that_would_hang_for_ever_fails() {
    for leaks in [None, Some("warn"), Some("deny")] {
        let (output, text) = run_child("in_a_child_that_hangs", leaks);
        assert!(!output.status.success());
        assert!(
            text.contains("gmp: deadlock: no waker is left of the future in `block_on`, nor of any task\n"),
            "{text}"
        );
        assert!(text.contains("at_the_end.rs:"), "{text}");
    }
}

#[test]
fn in_a_child_without_attribute() {
    Runtime::new().unwrap().block_on(async {
        leak().await;
        while is_child() && gmp_exec::runtime::Handle::current().lost_tasks().tasks.is_empty() {
            if std::env::var("GMP_LEAKS").is_err() {
                break;
            }
            yield_now().await;
        }
    });
}

/// Whether the child's test passes, and whether it names the task.
fn outcome(case: &str, leaks: Option<&str>) -> (bool, bool) {
    let (output, text) = run_child(case, leaks);
    let names_it = text.contains("gmp: 1 task can never run again\n")
        && text.contains("gmp:   task ")
        && text.contains("at_the_end.rs:")
        && text.contains(": no waker is left after 1 poll\n");
    assert_eq!(names_it, text.contains("never run again"), "{text}");
    (output.status.success(), names_it)
}

#[test]
fn a_test_warns_unless_it_or_the_variable_says_otherwise() {
    assert_eq!(outcome("in_a_child_by_default", None), (true, true));
    assert_eq!(outcome("in_a_child_by_default", Some("off")), (true, false));
    assert_eq!(outcome("in_a_child_by_default", Some("deny")), (false, true));
    assert_eq!(outcome("in_a_child_that_warns", Some("deny")), (true, true));
    assert_eq!(outcome("in_a_child_that_denies", None), (false, true));
    assert_eq!(outcome("in_a_child_that_does_not_look", Some("deny")), (true, false));
}

#[test]
fn a_runtime_that_says_nothing_obeys_the_variable() {
    assert_eq!(outcome("in_a_child_without_attribute", None), (true, false));
    assert_eq!(outcome("in_a_child_without_attribute", Some("warn")), (true, true));
    assert_eq!(outcome("in_a_child_without_attribute", Some("deny")), (false, true));
}

#[test]
fn an_unknown_value_is_an_error_that_names_what_is_allowed() {
    let (output, text) = run_child("in_a_child_without_attribute", Some("yes"));
    assert!(!output.status.success());
    assert!(text.contains("GMP_LEAKS: unknown value `yes`; allowed are off, warn and deny"), "{text}");
}

fn leaking() -> Runtime {
    let runtime = Builder::new_current_thread().leaks(Leaks::Deny).build().unwrap();
    runtime.block_on(async {
        spawn(pending::<()>());
        yield_now().await;
    });
    runtime
}

#[test]
fn every_way_to_end_a_runtime_looks_for_leaks() {
    let message = "gmp: 1 task can never run again\n";
    assert!(panic_message(|| drop(leaking())).starts_with(message));
    assert!(panic_message(|| leaking().shutdown_background()).starts_with(message));
    assert!(panic_message(|| leaking().shutdown_timeout(std::time::Duration::ZERO)).starts_with(message));
}

/// A second panic would abort the process.
#[test]
fn the_panic_of_a_test_is_not_replaced() {
    let message = panic_message(|| {
        let _runtime = leaking();
        panic!("on purpose");
    });
    assert_eq!(message, "on purpose");
}

#[test]
fn the_tasks_are_dropped_before_the_panic() {
    let (alive, held) = (std::sync::Arc::new(()), std::sync::Arc::new(()));
    let in_task = held.clone();
    let runtime = leaking();
    runtime.spawn(async move { _ = (pending::<()>().await, in_task) });
    panic_message(|| drop(runtime));
    assert_eq!((std::sync::Arc::strong_count(&alive), std::sync::Arc::strong_count(&held)), (1, 1));
    drop(alive);
}
