//! What happened to a test that failed, in the words of the run.

use std::time::Duration;

use super::process::Run;
use crate::escaped::escaped;

/// The limit of lines that are shown of a run. The file with its output has the others.
const SHOWN: usize = 12;

#[derive(Debug, PartialEq)]
pub(super) struct Ending {
    pub(super) reason: String,
    /// The lines that explain the reason.
    pub(super) details: Vec<String>,
}

impl Ending {
    pub(super) fn of(run: &Run, output: &str, limit: Duration) -> Self {
        let end = run.report.as_ref().map_or("", |report| report.end.as_str());
        let Some(status) = run.status else {
            return of_hang(output, limit);
        };
        match run.signal() {
            Some(signal) => Ending { reason: format!("killed by signal {signal}"), details: last(output) },
            None if end == "deadlock" || end == "limit" => of_engine(end, output),
            None => of_panic(output).unwrap_or_else(|| {
                let reason = format!("exit code {}", status.code().unwrap_or_default());
                Ending { reason, details: last(output) }
            }),
        }
    }
}

/// The dump of tasks and threads, after `gmp: seed 5f3a: `.
fn of_engine(end: &str, output: &str) -> Ending {
    let lines = output.lines().filter_map(|line| line.strip_prefix("gmp: "));
    let mut lines = lines.skip_while(|line| !line.starts_with("seed "));
    let reason = lines.next().and_then(|first| Some(first.split_once(": ")?.1)).unwrap_or(end);
    Ending { reason: escaped(reason), details: some(lines) }
}

/// The thread that has the turn, and the others, after `gmp: seed 5f3a: time is up: `. A thread that holds
/// the allocator's lock can't say this.
fn of_hang(output: &str, limit: Duration) -> Ending {
    let hangs = format!("it hangs: ended after {} s of real time (--timeout)", limit.as_secs());
    let mut lines = output.lines().filter_map(|line| line.strip_prefix("gmp: "));
    match lines.find_map(|line| Some(line.split_once(": time is up: ")?.1)) {
        Some(place) => Ending { reason: format!("{hangs}: {}", escaped(place)), details: some(lines) },
        None => Ending { reason: format!("{hangs}; perhaps a loop spins"), details: last(output) },
    }
}

/// The last panic. Those before may have been caught, or may be the cause of the last one.
fn of_panic(output: &str) -> Option<Ending> {
    let lines: Vec<_> = output.lines().collect();
    let mut panics = (0..lines.len()).filter(|&at| lines[at].contains(PANICKED)).map(|at| panic(&lines[at..]));
    let (reason, mut details) = panics.next_back()?;
    details.extend(panics.map(|(reason, _)| format!("before that: {reason}")));
    details.truncate(SHOWN);
    Some(Ending { reason, details })
}

const PANICKED: &str = " panicked at ";

/// The place with the first line of the message, and the other lines.
fn panic(lines: &[&str]) -> (String, Vec<String>) {
    let place = lines[0].split_once(PANICKED).map_or("", |(_, place)| place);
    let is_message =
        |line: &&str| !["note: ", "stack backtrace:"].iter().any(|end| line.starts_with(end)) && !line.is_empty();
    let mut message = lines[1..].iter().copied().take_while(is_message);
    let reason = format!("panic at {place} {}", message.next().unwrap_or_default());
    (escaped(&reason), some(message))
}

fn some<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    lines.take(SHOWN).map(escaped).collect()
}

fn last(output: &str) -> Vec<String> {
    let lines: Vec<_> = output.lines().filter(|line| !line.is_empty()).collect();
    some(lines[lines.len().saturating_sub(SHOWN)..].iter().copied())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;
    use crate::seeds::report::Report;

    fn run(status: Option<i32>, end: &str) -> Run {
        let report = Report { end: end.to_owned(), hash: String::new(), outside: Vec::new() };
        Run { status: status.map(ExitStatus::from_raw), report: Some(report), time: Duration::ZERO }
    }

    fn of(status: Option<i32>, end: &str, output: &str) -> (String, Vec<String>) {
        let ending = Ending::of(&run(status, end), output, Duration::from_secs(60));
        (ending.reason, ending.details)
    }

    #[test]
    fn the_reason_is_in_the_words_of_the_run() {
        let output =
            "running 1 test\ngmp: seed 5f3a: deadlock: 2 tasks wait, no timer is set\ngmp: runtime 1: 2 tasks\n";
        let expected = ("deadlock: 2 tasks wait, no timer is set".to_owned(), vec!["runtime 1: 2 tasks".to_owned()]);
        assert_eq!(of(Some(101 << 8), "deadlock", output), expected);
        let output = "\nthread 'b' panicked at src/b.rs:1:1:\nx\n\nthread 'a' (7) panicked at src/a.rs:3:5:\nassertion failed\n left: 1\nnote: run with\n";
        let details = [" left: 1", "before that: panic at src/b.rs:1:1: x"].map(str::to_owned).to_vec();
        assert_eq!(
            of(Some(101 << 8), "panic", output),
            ("panic at src/a.rs:3:5: assertion failed".to_owned(), details)
        );
        assert_eq!(
            of(Some(3 << 8), "panic", "a\n\nb\n"),
            ("exit code 3".to_owned(), vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(of(Some(6), "", "").0, "killed by signal 6");
        assert_eq!(of(None, "", "").0, "it hangs: ended after 60 s of real time (--timeout); perhaps a loop spins");
        let output =
            "gmp: seed 5f3a: time is up: thread 1 \"a\" has the turn, at src/a.rs:3\ngmp: thread 0 \"b\" waits\n";
        let hangs = "it hangs: ended after 60 s of real time (--timeout): thread 1 \"a\" has the turn, at src/a.rs:3";
        assert_eq!(of(None, "", output), (hangs.to_owned(), vec!["thread 0 \"b\" waits".to_owned()]));
    }
}
