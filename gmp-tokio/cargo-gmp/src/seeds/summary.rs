//! The last lines of `cargo gmp test --seeds`.

use std::time::Duration;

use super::explore::{Outcome, Tried};
use super::kept;
use super::listing::Test;
use crate::counted::counted;

/// Outcomes that are said only if there are any.
const RARE: [(&str, &str); 2] =
    [("without seeds", "ran once, because the program has no tokio in it"), ("not tried", "not tried")];

pub(super) fn text(tests: &[Test], tried: &[Tried], runs: u64, time: Duration, is_fail_fast: bool) -> String {
    let count = |outcome: &str| tried.iter().filter(|tried| tried.outcome() == outcome).count();
    let failed = count("failed");
    let mut parts = vec![format!("{} passed{}", count("passed"), under(tried)), format!("{failed} failed")];
    let rare = RARE.iter().map(|(outcome, words)| (count(outcome), *words));
    let unrepeated = tried.iter().filter(|tried| tried.difference.is_some()).count();
    let rare = rare.chain([(unrepeated, "not repeatable")]).filter(|(count, _)| *count > 0);
    parts.extend(rare.map(|(count, words)| format!("{count} {words}")));
    let seconds = time.as_secs_f64();
    let mut text = format!(
        "{}\n{} in {seconds:.1} s, {:.0} a minute\n",
        parts.join(", "),
        counted(runs, "run"),
        runs as f64 / seconds * 60.0
    );
    let all = || tests.iter().map(Test::full_name).zip(tried);
    let failures = all().filter_map(|(name, tried)| Some(format!("{name} {}", failure(tried)?)));
    // One alone was told just now.
    if failed > 1 {
        text += &list("failed", failures);
    }
    text += &list("not repeatable", all().filter_map(|(name, tried)| Some(format!("{name}: {}", outside(tried)?))));
    if failed > 0 {
        text += &format!("failing seeds are kept in {}, and are tried first the next time\n", kept::NAME);
    }
    if failed > 0 && failed < tried.len() && is_fail_fast {
        text += "a failure ends it all, unless --no-fail-fast is given\n";
    }
    text
}

fn failure(tried: &Tried) -> Option<String> {
    let Outcome::Failed(failure) = &tried.outcome else { return None };
    Some(format!("at seed {:x}: {}", failure.seed, failure.ending.reason))
}

/// Why a test does not repeat.
fn outside(tried: &Tried) -> Option<String> {
    let (_, difference) = tried.difference.as_ref()?;
    Some(difference.outside())
}

/// Nothing, if there are no lines.
fn list(head: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    if lines.is_empty() { lines } else { format!("{head}:\n{lines}") }
}

/// Under how many seeds tests have passed: some have run one more than others when the time is over.
fn under(tried: &[Tried]) -> String {
    let seeds = || tried.iter().filter(|tried| tried.outcome() == "passed").map(|tried| tried.seeds);
    match (seeds().min(), seeds().max()) {
        (Some(1), Some(1)) => " under 1 seed".to_owned(),
        (Some(least), Some(most)) if least == most => format!(" under {most} seeds"),
        (Some(least), Some(most)) => format!(" under {least} to {most} seeds"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::explore::Failure;
    use crate::seeds::repeat::Difference;

    const TIME: Duration = Duration::from_secs(6);

    fn tried(seeds: u64, outcome: Outcome, outside: Option<&str>) -> Tried {
        let difference = |call: &str| (1, Difference { lines: None, outside: vec![call.to_owned()] });
        Tried { seeds, outcome, difference: outside.map(difference) }
    }

    #[test]
    fn what_there_is_none_of_is_left_out() {
        let all = [tried(300, Outcome::Passed, None), tried(301, Outcome::Passed, None)];
        let expected = "2 passed under 300 to 301 seeds, 0 failed\n601 runs in 6.0 s, 6010 a minute\n";
        assert_eq!(text(&[], &all, 601, TIME, true), expected);
        let all = [tried(1, Outcome::WithoutSeeds, None), tried(0, Outcome::Passed, None)];
        let expected = "0 passed, 0 failed, 1 ran once, because the program has no tokio in it, 1 not tried\n";
        let text = text(&[], &all, 1, TIME, true);
        assert!(text.starts_with(expected) && text.contains("\n1 run in 6.0 s, "), "{text}");
    }

    #[test]
    fn all_failures_and_what_does_not_repeat_is_listed() {
        let tests = ["a", "b", "c"].map(|name| Test::named("app", name));
        let failed = |seed| Outcome::Failed(Failure::new(seed, "deadlock"));
        let all = [tried(3, failed(1), None), tried(4, failed(0x5f), None), tried(9, Outcome::Passed, Some("open x"))];
        let text = text(&tests, &all, 16, TIME, false);
        let expected = "failed:\n  app::a at seed 1: deadlock\n  app::b at seed 5f: deadlock\nnot repeatable:\n  \
                        app::c: open x\nfailing seeds are kept in ";
        assert!(text.contains(expected), "{text}");
    }
}
