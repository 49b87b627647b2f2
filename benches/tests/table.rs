//! Runs the program as a user does.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Output};

/// Runs `gmp-benches` where no command can be found.
fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gmp-benches"));
    command.args(arguments).env("PATH", "").output().expect("the program was built")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program writes text")
}

#[cfg(feature = "smol")]
#[test]
fn without_go_its_column_is_empty_and_the_reason_is_said() {
    let output = run(&["--only", "chained_spawn", "--reps", "1"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stderr), "\ngmp-benches: no column for Go: there is no command `go`\n\n");
    let row = text(&output.stdout).lines().find(|line| line.starts_with("chained_spawn")).expect("the row is printed");
    // Three sides with a median, its unit and a spread each, then Go's column.
    assert_eq!(row.split_whitespace().nth(10), Some("–"), "{row}");
}

#[test]
fn nothing_is_said_of_a_column_that_was_left_out() {
    let json = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let path = json.path().to_str().expect("its path is text");
    let arguments = ["--only", "chained_spawn", "--reps", "2", "--without", "go", "--without", "smol", "--json", path];
    let output = run(&arguments);
    assert_eq!((output.status.success(), text(&output.stderr)), (true, ""));
    let line: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).expect("the file was written"))
        .expect("one row is one line of JSON");
    assert_eq!((&line["workload"], &line["reps"]), (&"chained_spawn".into(), &2.into()));
    assert!(line["smol"].is_null() && line["go"].is_null(), "{line}");
}

#[test]
fn the_memory_of_idle_tasks_is_a_number_that_the_program_prints_when_it_starts_itself() {
    let output = run(&["--idle-tasks", "gmp", "--procs", "1"]);
    let bytes: f64 = text(&output.stdout).trim().parse().expect("a number");
    assert!((64.0..4096.0).contains(&bytes), "{bytes}");
}
