//! The stacks in programs that are optimised as a whole and don't unwind, and in stripped ones.
//! Tests can't be built in such profiles, so these tests build a program.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const MAIN: &str = include_str!("program/main.rs");

const MANIFEST: &str = r#"
[package]
name = "holds"
version = "0.0.0"
edition = "2024"

[dependencies]
gmp-exec = { path = "GMP_EXEC", features = ["blocked-stacks"] }

[profile.release]
debug = "line-tables-only"
lto = "fat"
codegen-units = 1
panic = "abort"

[workspace]
"#;

/// The program with line numbers.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(build)
}

fn build() -> PathBuf {
    let gmp_exec = Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("holds");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("Cargo.toml"), MANIFEST.replace("GMP_EXEC", gmp_exec.to_str().unwrap())).unwrap();
    fs::write(project.join("src/main.rs"), MAIN).unwrap();
    // With the versions that the workspace was tested with.
    fs::copy(gmp_exec.join("../Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--target-dir", "target"]).current_dir(&project).env_remove("RUSTFLAGS");
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    project.join("target/release/holds")
}

fn stripped(option: &str) -> PathBuf {
    let path = program().with_file_name(format!("holds{option}"));
    let status = Command::new("strip").arg(option).arg("-o").arg(&path).arg(program()).status().unwrap();
    assert!(status.success());
    path
}

/// The report, and the stack.
fn run(program: &Path, way: &str) -> String {
    let output = Command::new(program).arg(way).env("GMP_BLOCKED", "signal").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of that function.
fn lines_of(function: &str) -> RangeInclusive<usize> {
    let lines: Vec<&str> = MAIN.lines().collect();
    let begin = lines.iter().position(|line| line.starts_with(&format!("fn {function}("))).unwrap();
    let end = lines[begin..].iter().position(|line| *line == "}").unwrap();
    begin + 1..=begin + end + 1
}

/// The line of the program in the report's first line.
fn reported_line(report: &str) -> usize {
    let (_, place) = report.lines().next().unwrap().rsplit_once("main.rs:").unwrap_or_else(|| panic!("{report}"));
    place.parse().unwrap_or_else(|_| panic!("{report}"))
}

#[test]
fn a_program_that_is_optimised_as_a_whole_and_does_not_unwind() {
    for (way, function, begin) in
        [("loop", "computes", "computed "), ("call", "calls", "computed "), ("sleep", "sleeps", "blocked ")]
    {
        let report = run(program(), way);
        assert!(report.starts_with(begin), "{report}");
        assert!(lines_of(function).contains(&reported_line(&report)), "{report}");
        assert!(report.contains(&format!("\n{function} at ")), "{report}");
    }
}

#[test]
fn a_program_without_line_numbers_names_the_function() {
    let program = stripped("--strip-debug");
    for (way, expected) in
        [("loop", "computing in holds::"), ("call", " in holds::"), ("sleep", "in clock_nanosleep, called in holds::")]
    {
        let report = run(&program, way);
        assert!(report.lines().next().unwrap().contains(expected), "{report}");
    }
}

/// Nothing says whose functions these are: std's are told from the program's by nothing.
#[test]
fn a_stripped_program_gives_addresses_in_its_file() {
    let program = stripped("--strip-all");
    for (way, function, what) in
        [("loop", "computes", ", in holds--strip-all+0x"), ("sleep", "sleeps", ", called in holds--strip-all+0x")]
    {
        let report = run(&program, way);
        assert!(report.lines().next().unwrap().contains(what), "{report}");
        let mut addresses = report.lines().filter_map(|line| line.strip_prefix("holds--strip-all+"));
        assert!(addresses.any(|address| is_in(address, function)), "{report}");
    }
}

/// Whether the program with line numbers has the function at that address.
fn is_in(address: &str, function: &str) -> bool {
    let mut names = Command::new("addr2line");
    names.args(["-f", "-i", "-e"]).arg(program()).arg(address);
    let output = names.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().any(|line| line.contains(function))
}
