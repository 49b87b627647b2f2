//! Whether a run repeats: a second run under the same seed has to be the same.

use std::time::Duration;

use anyhow::Result;

use super::listing::Test;
use super::process::{Output, Place, Run};

/// Why two runs under a seed are not the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// The first lines that differ, of all decisions and events.
    pub(super) lines: Option<[String; 2]>,
    /// Calls that let the outside in.
    pub(super) outside: Vec<String>,
}

impl Difference {
    pub(super) fn outside(&self) -> String {
        match &self.outside[..] {
            [] => "no call that lets the outside in is known".to_owned(),
            calls => calls.join(", "),
        }
    }
}

/// A difference that shows only now and then is looked for so often.
const ATTEMPTS: usize = 4;

/// Runs the test again. `None`: the run was the same as `first`.
pub(super) fn difference(
    place: &Place,
    test: &Test,
    seed: u64,
    first: &Run,
    limit: Duration,
) -> Result<Option<Difference>> {
    let again = place.run(test, seed, limit, Output::Kept)?;
    // A run that was ended, perhaps for the computer was busy, shows nothing.
    if again.status.is_none() || first.is_same(&again) {
        return Ok(None);
    }
    let reports = [&first.report, &again.report].into_iter().flatten();
    let mut outside: Vec<_> = reports.flat_map(|report| report.outside.iter().cloned()).collect();
    outside.sort();
    outside.dedup();
    for _ in 0..ATTEMPTS {
        let [one, other] = ["log-1", "log-2"].map(|log| place.run_logged(test, seed, limit, log, None));
        let Some((one, other)) = one?.zip(other?) else { continue };
        if let Some(lines) = first_difference(&one, &other) {
            return Ok(Some(Difference { lines: Some(lines), outside }));
        }
    }
    Ok(Some(Difference { lines: None, outside }))
}

fn first_difference(one: &str, other: &str) -> Option<[String; 2]> {
    let (mut one, mut other) = (one.lines(), other.lines());
    let or_end = |line: Option<&str>| line.unwrap_or("(the end)").trim().to_owned();
    loop {
        match (one.next(), other.next()) {
            (None, None) => return None,
            (one, other) if one != other => return Some([or_end(one), or_end(other)]),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("1 Task 0 of 2\n", "1 Task 0 of 2\n"), None);
        let expected = ["thread 1", "thread 2"].map(str::to_owned);
        assert_eq!(first_difference("a\n  thread 1\nb\n", "a\n  thread 2\nb\n"), Some(expected));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(["(the end)", "b"].map(str::to_owned)));
    }
}
