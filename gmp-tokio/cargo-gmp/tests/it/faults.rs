//! docs/stuck.md shows what is asked and answered of each fault of `examples/faults`. Here the program
//! is asked again. The page has no other output.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::asked::Running;
use crate::support::{Project, repository, shared, shared_target, succeeds};

/// Some faults take a while to show.
const PATIENCE: Duration = Duration::from_secs(60);

/// A block of the page: `$ GMP_LEAKS=warn faults lost-waker &`, then `$ cargo gmp tasks PID`, then the
/// answer. Or `$ GMP_DEADLOCK_AFTER=1 faults deadlock`, then what the program prints itself.
struct Example<'a> {
    /// Of the program.
    settings: Vec<(&'a str, &'a str)>,
    fault: &'a str,
    /// Of `cargo gmp`, without the process id; `None` if nobody asks.
    command: Option<&'a str>,
    answer: Vec<&'a str>,
}

#[test]
fn each_fault_of_the_page_is_told_as_the_page_says() {
    let page = fs::read_to_string(repository().join("docs/stuck.md")).unwrap();
    let blocks = page.split("```text\n").skip(1);
    let examples: Vec<Example> = blocks.map(|block| Example::of(block).expect(block)).collect();
    let faults: BTreeSet<&str> = examples.iter().map(|example| example.fault).collect();
    assert_eq!(faults.len(), 13, "{faults:?}");
    let project = Project::with_tokio("\"1\"");
    let mut build = project.gmp("build --quiet --locked");
    build.current_dir(repository().join("examples/faults"));
    succeeds(&mut shared(build));
    examples.iter().for_each(|example| example.check(&project));
}

impl Example<'_> {
    fn of(block: &str) -> Option<Example<'_>> {
        let mut lines = block.split("```").next()?.lines();
        let line = lines.next()?.strip_prefix("$ ")?;
        let (line, command) = match line.strip_suffix(" &") {
            Some(line) => (line, Some(lines.next()?.strip_prefix("$ cargo gmp ")?.strip_suffix(" PID")?)),
            None => (line, None),
        };
        let (settings, fault) = line.split_once("faults ")?;
        let settings = settings.split_whitespace().filter_map(|setting| setting.split_once('=')).collect();
        Some(Example { settings, fault, command, answer: lines.collect() })
    }

    fn check(&self, project: &Project) {
        let printed = project.path("printed");
        let mut program = Command::new(shared_target().join("gmp/debug/faults"));
        program.current_dir(repository().join("examples/faults")).arg(self.fault);
        program.stderr(File::create(&printed).unwrap()).envs(self.settings.iter().copied());
        let debug = self.settings.iter().find(|(name, _)| *name == "GMP_DEBUG").map_or("", |(_, value)| *value);
        let (running, start) = (Running::start(debug, &mut program), Instant::now());
        loop {
            let answer = match self.command {
                Some(command) => succeeds(&mut project.gmp(&format!("{command} {}", running.id()))),
                None => fs::read_to_string(&printed).unwrap(),
            };
            let Some(missing) = self.answer.iter().find(|line| !is_in(&answer, line)) else { return };
            assert!(start.elapsed() < PATIENCE, "{}:\n{missing}\nis not in\n{answer}", self.fault);
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether a line of the answer has all parts of this one, in any order: some come in that of numbers
/// that were measured.
fn is_in(answer: &str, line: &str) -> bool {
    let wanted = parts(line);
    answer.lines().any(|line| wanted.is_subset(&parts(line)))
}

fn parts(line: &str) -> BTreeSet<String> {
    let line = [" and ", "; ", ": ", ", in ", ", waits ", ", wait "]
        .iter()
        .fold(line.to_owned(), |line, between| line.replace(between, ", "));
    line.trim().split(", ").map(without_numbers).collect()
}

/// Numbers of files and lines stay.
fn without_numbers(part: &str) -> String {
    let words = part.split(' ').map(|word| if word.contains(".rs:") { word.to_owned() } else { number(word) });
    let text = words.collect::<Vec<_>>().join(" ");
    if text.ends_with(" poll") || text.ends_with(" polls") { "N polls".to_owned() } else { text }
}

/// Digits, and the points between them, are one number.
fn number(word: &str) -> String {
    let mut text = String::new();
    for character in word.chars() {
        match character {
            '0'..='9' | '.' if text.ends_with('N') => {}
            '0'..='9' => text.push('N'),
            other => text.push(other),
        }
    }
    text
}

#[test]
fn lines_are_compared_without_what_is_measured() {
    let answer =
        "  2 waiting, spawned at src/a.rs:7, wait for timers (the next in 3.2 s) and to read from 127.0.0.1:80 (fd 3)";
    let says = |line: &str| is_in(answer, line);
    assert!(says("40 waiting, spawned at src/a.rs:7, to read from 127.0.0.1:4 (fd 11)"));
    assert!(is_in(
        "task spawned at src/a.rs:7, in futex 3x, sleep 1x",
        "task spawned at src/a.rs:7, in sleep 5x, futex 9x"
    ));
    let timers = "for timers (the next in 0.1 s)";
    assert!(says(&format!("2 waiting, spawned at src/a.rs:7, waits to read from 127.0.0.1:4 (fd 11) and {timers}")));
    assert!(!says("2 waiting, spawned at src/a.rs:8") && !says("2 running, spawned at src/a.rs:7"));
    assert_eq!(without_numbers("88 to 145 polls"), without_numbers("1 poll"));
}
