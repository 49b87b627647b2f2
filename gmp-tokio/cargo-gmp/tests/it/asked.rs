//! `cargo gmp tasks`, `blocked` and `trace` ask programs that were started with no setting.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::{Project, fails, program, shared, shared_target as target, succeeds};

/// Three tasks that wait. With `single`, all on one thread; with `blocks`, one more that blocks now and
/// then. The sleeps inside polls are the faults that are told.
const MAIN: &str = r#"fn main() {
    let (case, ms) = (std::env::args().nth(1), std::time::Duration::from_millis);
    let runtime = if case.as_deref() == Some("single") { tokio::runtime::Builder::new_current_thread().enable_all().build() }
        else { tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() };
    runtime.unwrap().block_on(async {
        for _ in 0..3 {
            tokio::spawn(std::future::pending::<()>());
        }
        tokio::spawn(async move { std::thread::sleep(ms(100)) }).await.unwrap();
        if case.as_deref() == Some("blocks") {
            tokio::spawn(async move { loop { tokio::time::sleep(ms(5)).await; std::thread::sleep(ms(20)) } });
        }
        println!("ready");
        std::future::pending::<()>().await
    })
}"#;

pub(crate) struct Running(Child);

impl Running {
    /// Waits until the program prints `ready`.
    pub(crate) fn start(setting: &str, command: &mut Command) -> Running {
        let mut running = Running(command.env("GMP_DEBUG", setting).stdout(Stdio::piped()).spawn().unwrap());
        let stdout = running.0.stdout.take().unwrap();
        assert!(BufReader::new(stdout).lines().any(|line| line.unwrap() == "ready"));
        running
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn built() -> Project {
    let project = program("asked", MAIN);
    succeeds(&mut shared(project.gmp("build --quiet")));
    project
}

#[test]
fn a_program_is_asked_that_was_started_with_no_setting() {
    let project = built();
    let app = target().join("gmp/debug/asked");
    for (arguments, blocked) in [(&[][..], "blocked 1x, "), (&["single"][..], "not watched: ")] {
        let running = Running::start("", Command::new(&app).args(arguments));
        let tasks = succeeds(&mut project.gmp(&format!("tasks {}", running.id())));
        assert!(tasks.starts_with("runtime 1: 3 tasks\n  3 waiting, spawned at src/main.rs:7, "), "{tasks}");
        let json = succeeds(&mut project.gmp(&format!("tasks --json {}", running.id())));
        assert_eq!(json.lines().count(), 3, "{json}");
        let report = succeeds(&mut project.gmp(&format!("blocked {}", running.id())));
        assert!(report.contains(blocked), "{report}");
    }
}

#[test]
fn who_can_not_be_asked_is_told_why() {
    let project = built();
    let app = target().join("gmp/debug/asked");
    let refuses = Running::start("asks=0", &mut Command::new(&app));
    let error = fails(&mut project.gmp(&format!("tasks {}", refuses.id())), 1);
    assert!(error.contains("is a program on gmp, and can't be asked: ") && error.contains("asks=0"), "{error}");
    // As `cargo gmp run` in the background of a shell, whose number the user has.
    let parent = Running::start("", Command::new("sh").args(["-c", "\"$0\"; true"]).arg(&app));
    let error = fails(&mut project.gmp(&format!("tasks {}", parent.id())), 1);
    assert!(error.contains("is not a program on gmp, but its child "), "{error}");
    let child = error.split_whitespace().rev().nth(1).unwrap().to_owned();
    succeeds(&mut project.gmp(&format!("tasks {child}")));
    assert!(Command::new("kill").arg(child).status().unwrap().success());
}

#[test]
fn what_changes_between_two_looks_is_told_until_the_program_ends() {
    let project = built();
    let running = Running::start("", &mut Command::new(target().join("gmp/debug/asked")));
    let mut command = project.gmp(&format!("tasks --every 1 {}", running.id()));
    let mut every = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(every.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("3 tasks; per second over the last ") && first.ends_with(" s:"), "{first}");
    drop(running);
    assert_eq!(every.wait().unwrap().code(), Some(1));
}

#[test]
fn a_program_records_itself_when_it_is_asked_to() {
    let project = built();
    let running = Running::start("", Command::new(target().join("gmp/debug/asked")).arg("blocks"));
    let (process, file) = (running.id(), project.path("asked.pftrace"));
    let told = succeeds(&mut project.gmp(&format!("trace --for 1s --output {} {process}", file.display())));
    assert!(told.contains(" on 2 processors, "), "{told}");
    // About forty polls of 20 ms, each of which sleeps; fewer on a busy computer.
    let longest = told.split_once("longest polls").unwrap_or_else(|| panic!("{told}")).1;
    assert!(longest.contains("src/main.rs:11"), "{told}");
    assert_eq!(succeeds(&mut project.gmp(&format!("trace {}", file.display()))), told);
    let shorter = succeeds(&mut project.gmp(&format!("trace --for=1 {process}")));
    assert!(shorter.contains(" on 2 processors, "), "{shorter}");
    assert_eq!(
        std::fs::read_dir(project.path(""))
            .unwrap()
            .filter(|file| {
                file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "pftrace")
            })
            .count(),
        1,
        "nothing is left of a recording that is not to be kept"
    );
    let tasks = succeeds(&mut project.gmp(&format!("tasks {process}")));
    assert!(tasks.starts_with("runtime 1: 4 tasks\n"), "the program goes on: {tasks}");
}

#[test]
fn what_can_not_be_recorded_is_told_why() {
    let project = built();
    for (line, code, expected) in [
        ("trace --for 61s 1", 2, "error: \"61s\" is no time; allowed are 1s to 60s; usage: cargo gmp trace "),
        ("trace 4294967295", 2, "error: \"4294967295\" is not a process id; usage: cargo gmp trace "),
        ("trace 4194305", 1, "error: no process 4194305"),
        ("trace --output x y", 2, "error: --for and --output are for a process, and \"y\" is none; "),
    ] {
        let error = fails(&mut project.gmp(line), code);
        assert!(error.starts_with(expected), "{line}: {error}");
    }
    let mut running = Running::start("", &mut Command::new(target().join("gmp/debug/asked")));
    let mut command = project.gmp(&format!("trace --for 60s {}", running.id()));
    let mut trace = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(trace.stderr.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("recording process "));
    running.0.kill().unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with("error: the answer is cut off: the program has ended"));
    assert_eq!(trace.wait().unwrap().code(), Some(1));
}
