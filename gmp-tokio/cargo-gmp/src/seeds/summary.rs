//! The last lines of `cargo gmp test --seeds`.

use std::time::Duration;

use super::explore::Tried;
use super::kept;

/// Outcomes that are said only if there are any.
const RARE: [(&str, &str); 2] =
    [("without seeds", "ran once, because the program has no tokio in it"), ("not tried", "not tried")];

pub(super) fn text(tried: &[Tried], runs: u64, time: Duration, is_fail_fast: bool) -> String {
    let count = |outcome: &str| tried.iter().filter(|tried| tried.outcome() == outcome).count();
    let failed = count("failed");
    let mut parts = vec![format!("{} passed{}", count("passed"), under(tried)), format!("{failed} failed")];
    let rare = RARE.iter().map(|(outcome, words)| (count(outcome), *words));
    let unrepeated = tried.iter().filter(|tried| tried.difference.is_some()).count();
    let rare = rare.chain([(unrepeated, "not repeatable")]).filter(|(count, _)| *count > 0);
    parts.extend(rare.map(|(count, words)| format!("{count} {words}")));
    let seconds = time.as_secs_f64();
    let mut text =
        format!("{}\n{runs} runs in {seconds:.1} s, {:.0} a minute\n", parts.join(", "), runs as f64 / seconds * 60.0);
    if failed > 0 {
        text += &format!("failing seeds are kept in {}, and are tried first the next time\n", kept::NAME);
    }
    if failed > 0 && failed < tried.len() && is_fail_fast {
        text += "a failure ends it all, unless --no-fail-fast is given\n";
    }
    text
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
    use crate::seeds::explore::Outcome;

    #[test]
    fn what_there_is_none_of_is_left_out() {
        let tried = |seeds, outcome| Tried { seeds, outcome, difference: None };
        let time = Duration::from_secs(6);
        let all = [tried(300, Outcome::Passed), tried(301, Outcome::Passed)];
        let expected = "2 passed under 300 to 301 seeds, 0 failed\n601 runs in 6.0 s, 6010 a minute\n";
        assert_eq!(text(&all, 601, time, true), expected);
        let all = [tried(1, Outcome::WithoutSeeds), tried(0, Outcome::Passed)];
        let expected = "0 passed, 0 failed, 1 ran once, because the program has no tokio in it, 1 not tried\n";
        assert!(text(&all, 1, time, true).starts_with(expected));
    }
}
