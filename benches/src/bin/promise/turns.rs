//! The sides take turns.

use std::io;

use gmp_benches::measure::order;

/// Measures `reps` times on each side, gmp's place being the first: another side comes first every time.
pub(crate) fn take<T>(reps: usize, sides: [&dyn Fn() -> io::Result<T>; 2]) -> io::Result<[Vec<T>; 2]> {
    let mut repetitions = [Vec::new(), Vec::new()];
    for turn in 0..reps {
        for side in order(turn, sides.len()) {
            repetitions[side].push(sides[side]()?);
        }
    }
    Ok(repetitions)
}
