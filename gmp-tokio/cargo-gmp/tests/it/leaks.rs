//! `GMP_LEAKS` in the tests of a program that knows nothing of gmp: `#[tokio::test]` names tasks
//! that can never run again, and fails if it is told to.

use std::process::Output;

use crate::support::{Project, program, shared, text};

const TESTS: &str = r#"
use std::future::pending;
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local, yield_now};

#[tokio::test]
async fn leaves_a_task() {
    tokio::spawn(pending::<()>());
    yield_now().await;
}

#[tokio::test]
async fn leaves_a_local_task() {
    let set = LocalSet::new();
    set.run_until(async {
        spawn_local(pending::<()>());
        yield_now().await;
    })
    .await;
}

#[tokio::test]
async fn leaves_nothing() {
    let (send, receive) = oneshot::channel();
    let task = tokio::spawn(receive);
    let sleeps = tokio::spawn(tokio::time::sleep(std::time::Duration::from_millis(5)));
    yield_now().await;
    send.send(7).unwrap();
    assert_eq!(task.await.unwrap().unwrap(), 7);
    sleeps.await.unwrap();
    LocalSet::new().run_until(async { spawn_local(yield_now()).await.unwrap() }).await;
}

/// What waits for a timer, or for a thread, is no leak.
#[tokio::test]
async fn leaves_tasks_that_something_could_wake() {
    let (send, receive) = oneshot::channel::<()>();
    tokio::spawn(receive);
    tokio::spawn(tokio::time::sleep(std::time::Duration::from_secs(3_600)));
    yield_now().await;
    std::mem::forget(send);
}

#[tokio::test]
async fn hangs() {
    if std::env::var("GMP_LEAKS").is_ok_and(|leaks| leaks == "deny") {
        tokio::spawn(pending::<()>()).await.unwrap();
    }
}

#[tokio::test]
async fn hangs_in_a_local_set() {
    if std::env::var("GMP_LEAKS").is_ok_and(|leaks| leaks == "deny") {
        LocalSet::new().run_until(async { spawn_local(pending::<()>()).await.unwrap() }).await;
    }
}
"#;

fn project() -> Project {
    let project = program("leaks", "fn main() {}\n");
    project.write("tests/leaks.rs", TESTS);
    project
}

fn run(project: &Project, leaks: Option<&str>) -> Output {
    let mut command = shared(project.gmp("test --quiet --test leaks -- --show-output --test-threads=1"));
    match leaks {
        Some(leaks) => command.env("GMP_LEAKS", leaks),
        None => command.env_remove("GMP_LEAKS"),
    };
    command.output().unwrap()
}

/// The output of one test.
fn section<'a>(said: &'a str, test: &str) -> &'a str {
    let (_, rest) = said.split_once(&format!("---- {test} stdout ----")).unwrap_or_else(|| panic!("{test}: {said}"));
    rest.split_once("\n---- ").map_or(rest, |(section, _)| section)
}

#[test]
fn tokios_tests_obey_the_variable() {
    let project = project();
    let denied = run(&project, Some("deny"));
    let said = text(&denied.stdout);
    assert_eq!(denied.status.code(), Some(101), "{said}\n{}", text(&denied.stderr));
    assert!(said.contains("2 passed; 4 failed"), "{said}");
    for test in ["leaves_a_task", "leaves_a_local_task"] {
        let section = section(&said, test);
        assert!(section.contains("gmp: 1 task can never run again\n"), "{section}");
        assert!(section.contains("spawned at tests/leaks.rs:"), "{section}");
    }
    for test in ["hangs", "hangs_in_a_local_set"] {
        let section = section(&said, test);
        assert!(section.contains("gmp: deadlock: no waker is left of the future in `block_on`"), "{section}");
        assert!(section.contains("spawned at tests/leaks.rs:"), "{section}");
    }

    let warned = run(&project, Some("warn"));
    let said = text(&warned.stdout);
    assert!(warned.status.success() && said.contains("6 passed"), "{said}\n{}", text(&warned.stderr));
    for test in ["leaves_a_task", "leaves_a_local_task"] {
        assert!(section(&said, test).contains("gmp: 1 task can never run again\n"), "{said}");
    }
    assert_eq!(said.matches("never run again").count(), 2, "{said}");

    let silent = run(&project, None);
    let said = text(&silent.stdout);
    assert!(silent.status.success() && !said.contains("gmp: "), "{said}\n{}", text(&silent.stderr));

    let wrong = run(&project, Some("yes"));
    let said = text(&wrong.stdout);
    assert!(!wrong.status.success(), "{said}");
    assert!(said.contains("GMP_LEAKS: unknown value `yes`; allowed are off, warn and deny"), "{said}");
}
