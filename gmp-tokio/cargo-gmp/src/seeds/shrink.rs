//! Makes a failure simple: of all choices of its run, only those stay that the failure needs.
//!
//! A choice of 0 changes least, and choices beyond the end of the list are 0. So the end is cut off,
//! then blocks of choices become 0, large ones first, those that are left are taken out, and at last
//! become smaller. What follows a changed choice may get another meaning: a thread that does not let
//! others go first makes no choice of the next thread. Only the failure decides: it has to stay the same.

use anyhow::Result;

/// The choices that are left. `fails` says whether a run with these choices fails in the same way; if
/// there is no time for a run, it says no.
pub(super) fn shrink(choices: &[usize], mut fails: impl FnMut(&[usize]) -> Result<bool>) -> Result<Vec<usize>> {
    let mut left = without_end(choices, &mut fails)?;
    loop {
        let before = left.clone();
        clear(&mut left, &mut fails)?;
        take_out(&mut left, &mut fails)?;
        lower(&mut left, &mut fails)?;
        if left == before {
            return Ok(left);
        }
        left.truncate(left.iter().rposition(|&choice| choice > 0).map_or(0, |last| last + 1));
    }
}

fn without_end(choices: &[usize], mut fails: impl FnMut(&[usize]) -> Result<bool>) -> Result<Vec<usize>> {
    let (mut shortest, mut length) = (0, choices.len());
    while shortest < length {
        // All zeros are tried first: many a failure needs no choice at all.
        let middle = if shortest == 0 && length == choices.len() { 0 } else { (shortest + length) / 2 };
        if fails(&choices[..middle])? { length = middle } else { shortest = middle + 1 }
    }
    Ok(choices[..length].to_owned())
}

fn clear(left: &mut Vec<usize>, mut fails: impl FnMut(&[usize]) -> Result<bool>) -> Result<()> {
    let mut size = left.len();
    while size > 0 {
        let places: Vec<_> = (0..left.len()).filter(|&place| left[place] > 0).collect();
        size = size.min(places.len());
        for block in places.chunks(size.max(1)) {
            let mut tried = left.clone();
            block.iter().for_each(|&place| tried[place] = 0);
            if fails(&tried)? {
                *left = tried;
            }
        }
        size /= 2;
    }
    Ok(())
}

/// Together with the choice that follows from it, or alone.
fn take_out(left: &mut Vec<usize>, mut fails: impl FnMut(&[usize]) -> Result<bool>) -> Result<()> {
    for size in [2, 1] {
        let mut place = 0;
        while place < left.len() {
            let mut tried = left.clone();
            tried.drain(place..(place + size).min(left.len()));
            if left[place] > 0 && fails(&tried)? { *left = tried } else { place += 1 }
        }
    }
    Ok(())
}

fn lower(left: &mut [usize], mut fails: impl FnMut(&[usize]) -> Result<bool>) -> Result<()> {
    for place in 0..left.len() {
        let choice = left[place];
        for smaller in [1, choice / 2, choice.saturating_sub(1)] {
            left[place] = smaller;
            if (1..choice).contains(&smaller) && fails(left)? {
                break;
            }
            left[place] = choice;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_failure_needs_is_left() {
        let choices: Vec<_> = (0..200).map(|i| i % 7).collect();
        let mut runs = 0;
        let left = shrink(&choices, |tried| {
            runs += 1;
            let at = |place| tried.get(place).copied().unwrap_or(0);
            Ok(at(41) >= 2 && at(57) > 0)
        });
        let mut expected = vec![0; 58];
        (expected[41], expected[57]) = (2, 1);
        assert_eq!(left.unwrap(), expected);
        assert!(runs < 100, "{runs}");
    }

    /// With 0 in place of one of them, the third would be the second and have no meaning.
    #[test]
    fn a_choice_goes_with_the_one_that_follows_from_it() {
        let fails = |tried: &[usize]| Ok(matches!(tried, [1, 4, 3, ..] | [3, ..]));
        assert_eq!(shrink(&[1, 4, 3, 1], fails).unwrap(), [3]);
    }

    #[test]
    fn a_failure_may_need_nothing_and_time_may_be_up() {
        assert_eq!(shrink(&[1, 2, 3], |_| Ok(true)).unwrap(), [0; 0]);
        assert_eq!(shrink(&[1, 2, 3], |_| Ok(false)).unwrap(), [1, 2, 3]);
    }
}
