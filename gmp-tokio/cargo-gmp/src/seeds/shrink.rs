//! Makes a failure simple: of all choices of its run, only those stay that the failure needs.
//!
//! A choice of 0 changes least, and choices beyond the end of the list are 0. So whole kinds become 0, the
//! end is cut off, then blocks of choices become 0, large ones first, those that are left are taken out, and
//! at last become smaller. What follows a changed choice may get another meaning, if it is of the same kind.
//! Only the failure decides: it has to stay the same.

use std::collections::BTreeSet;

use super::story::Choice;

/// Why no run said whether the failure stays.
#[derive(Debug)]
pub(super) enum NoRun {
    TimeIsUp,
    Error(anyhow::Error),
}

impl From<anyhow::Error> for NoRun {
    fn from(error: anyhow::Error) -> Self {
        NoRun::Error(error)
    }
}

type Result<T> = std::result::Result<T, NoRun>;

/// The choices that are left, also if the time is up. `fails` says whether a run with these choices fails in
/// the same way.
pub(super) fn shrink(choices: &[Choice], fails: impl FnMut(&[Choice]) -> Result<bool>) -> anyhow::Result<Vec<Choice>> {
    let mut left = choices.to_owned();
    match simplify(&mut left, fails) {
        Ok(()) | Err(NoRun::TimeIsUp) => Ok(left),
        Err(NoRun::Error(error)) => Err(error),
    }
}

/// The choices in `left` make the test fail at any time, so that an error of `fails` may end this anywhere.
fn simplify(left: &mut Vec<Choice>, mut fails: impl FnMut(&[Choice]) -> Result<bool>) -> Result<()> {
    // Many a failure needs no choice at all.
    if fails(&[])? {
        left.clear();
        return Ok(());
    }
    clear_kinds(left, &mut fails)?;
    cut_end(left, &mut fails)?;
    loop {
        let before = left.clone();
        clear(left, &mut fails)?;
        take_out(left, &mut fails)?;
        lower(left, &mut fails)?;
        if *left == before {
            return Ok(());
        }
        left.truncate(left.iter().rposition(|choice| choice.value > 0).map_or(0, |last| last + 1));
    }
}

fn clear_kinds(left: &mut Vec<Choice>, mut fails: impl FnMut(&[Choice]) -> Result<bool>) -> Result<()> {
    let kinds: BTreeSet<_> = left.iter().map(|choice| choice.kind.clone()).collect();
    for kind in kinds {
        // Choices of a kind that are missing at its end are 0.
        let tried: Vec<_> = left.iter().filter(|choice| choice.kind != kind).cloned().collect();
        if fails(&tried)? {
            *left = tried;
        }
    }
    Ok(())
}

fn cut_end(left: &mut Vec<Choice>, mut fails: impl FnMut(&[Choice]) -> Result<bool>) -> Result<()> {
    let mut shortest = 1;
    while shortest < left.len() {
        let middle = (shortest + left.len()) / 2;
        if fails(&left[..middle])? { left.truncate(middle) } else { shortest = middle + 1 }
    }
    Ok(())
}

fn clear(left: &mut Vec<Choice>, mut fails: impl FnMut(&[Choice]) -> Result<bool>) -> Result<()> {
    let mut size = left.len();
    while size > 0 {
        let places: Vec<_> = (0..left.len()).filter(|&place| left[place].value > 0).collect();
        size = size.min(places.len());
        for block in places.chunks(size.max(1)) {
            let mut tried = left.clone();
            block.iter().for_each(|&place| tried[place].value = 0);
            if fails(&tried)? {
                *left = tried;
            }
        }
        size /= 2;
    }
    Ok(())
}

/// Together with the choice that follows, which may follow from it, or alone.
fn take_out(left: &mut Vec<Choice>, mut fails: impl FnMut(&[Choice]) -> Result<bool>) -> Result<()> {
    for size in [2, 1] {
        let mut place = 0;
        while place < left.len() {
            if left[place].value == 0 {
                place += 1;
                continue;
            }
            let mut tried = left.clone();
            tried.drain(place..(place + size).min(left.len()));
            if fails(&tried)? { *left = tried } else { place += 1 }
        }
    }
    Ok(())
}

fn lower(left: &mut [Choice], mut fails: impl FnMut(&[Choice]) -> Result<bool>) -> Result<()> {
    for place in 0..left.len() {
        let choice = left[place].value;
        for smaller in [1, choice / 2, choice.saturating_sub(1)] {
            if !(1..choice).contains(&smaller) {
                continue;
            }
            left[place].value = smaller;
            let outcome = fails(left);
            if !matches!(outcome, Ok(true)) {
                left[place].value = choice;
            }
            if outcome? {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn of_kind(kind: &str, values: &[usize]) -> Vec<Choice> {
        values.iter().map(|&value| Choice { value, kind: kind.to_owned() }).collect()
    }

    fn values(choices: &[Choice]) -> Vec<usize> {
        choices.iter().map(|choice| choice.value).collect()
    }

    #[test]
    fn what_the_failure_needs_is_left() {
        let choices: Vec<_> = (0..200).map(|i| i % 7).collect();
        let mut runs = 0;
        let left = shrink(&of_kind("Task", &choices), |tried| {
            runs += 1;
            let at = |place| tried.get(place).map_or(0, |choice: &Choice| choice.value);
            Ok(at(41) >= 2 && at(57) > 0)
        });
        let mut expected = vec![0; 58];
        (expected[41], expected[57]) = (2, 1);
        assert_eq!(values(&left.unwrap()), expected);
        assert!(runs < 100, "{runs}");
    }

    /// With 0 in place of one of them, the third would be the second and have no meaning.
    #[test]
    fn a_choice_goes_with_the_one_that_follows_from_it() {
        let fails = |tried: &[Choice]| Ok(matches!(values(tried)[..], [1, 4, 3, ..] | [3, ..]));
        assert_eq!(values(&shrink(&of_kind("Task", &[1, 4, 3, 1]), fails).unwrap()), [3]);
    }

    #[test]
    fn kinds_that_the_failure_does_not_need_go_first() {
        let mixed: Vec<_> = (0..500).flat_map(|i| [of_kind("Net", &[i]), of_kind("Task", &[1])].concat()).collect();
        let mut runs = 0;
        let left = shrink(&mixed, |tried| {
            runs += 1;
            Ok(tried.iter().filter(|choice| choice.kind == "Task").nth(2).is_some_and(|choice| choice.value > 0))
        });
        assert_eq!(left.unwrap(), of_kind("Task", &[0, 0, 1]));
        assert!(runs < 30, "{runs}");
    }

    #[test]
    fn a_failure_may_need_nothing_or_all() {
        let choices = of_kind("Task", &[1, 1, 1]);
        assert_eq!(shrink(&choices, |_| Ok(true)).unwrap(), []);
        assert_eq!(shrink(&choices, |tried| Ok(tried == choices)).unwrap(), choices);
    }

    /// A copy of the choices for each of them would take minutes here.
    #[test]
    fn choices_of_zero_are_not_tried_one_by_one() {
        let mut choices = of_kind("Task", &[0; 30_000]);
        choices.last_mut().unwrap().value = 1;
        let begin = Instant::now();
        let left = shrink(&choices, |tried| Ok(tried.get(29_999).is_some_and(|choice| choice.value > 0)));
        assert_eq!(left.unwrap(), choices);
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }

    /// A failure of h2's tests has 2.7 million choices. Each trial copies them, so trials without a run
    /// had no end.
    #[test]
    fn when_time_is_up_nothing_more_is_tried_and_what_is_left_fails() {
        let choices = of_kind("Task", &(0..30).map(|i| i % 7).collect::<Vec<_>>());
        let fails = |tried: &[Choice]| [17, 20].iter().all(|&at| tried.get(at).is_some_and(|choice| choice.value > 1));
        let mut needed = 0;
        shrink(&choices, |tried| {
            needed += 1;
            Ok(fails(tried))
        })
        .unwrap();
        for most in 0..needed {
            let mut runs = 0;
            let left = shrink(&choices, |tried| {
                runs += 1;
                if runs > most { Err(NoRun::TimeIsUp) } else { Ok(fails(tried)) }
            });
            assert!(fails(&left.unwrap()), "{most}");
            assert_eq!(runs, most + 1);
        }
    }
}
