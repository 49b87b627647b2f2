//! From a value to a position on an axis.
//!
//! Times here span six decades, from a message of 50 ns to a request that waited for seconds. So
//! values are placed by their logarithm, and quantiles by the number of their nines, which gives
//! p99 as much room beside p90 as p99.9 has beside p99. A value without a position (zero on a
//! logarithmic axis, or NaN) is placed at NaN, which `svg` doesn't draw.

/// An axis: a range of values mapped to a range of pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// [`log`] or [`nines`].
    pub(super) measure: fn(f64) -> f64,
    pub(super) values: (f64, f64),
    pub(super) pixels: (f64, f64),
}

impl Scale {
    /// The position of `value`, which may be outside of the pixels; NaN if there is none.
    pub(super) fn place(&self, value: f64) -> f64 {
        let [from, to, at] = [self.values.0, self.values.1, value].map(self.measure);
        let place = self.pixels.0 + (at - from) / (to - from) * (self.pixels.1 - self.pixels.0);
        if place.is_finite() { place } else { f64::NAN }
    }
}

/// For values above zero.
pub(super) fn log(value: f64) -> f64 {
    if value > 0.0 { value.log10() } else { f64::NAN }
}

/// For quantiles: the number of nines. 0.9 has one, 0.99 two, and 0.5 a third of one.
pub(super) fn nines(quantile: f64) -> f64 {
    if (0.0..1.0).contains(&quantile) { -(1.0 - quantile).log10() } else { f64::NAN }
}

/// The range from the last 1, 2 or 5 (times a power of ten) at or below all of `values` to the
/// first at or above them; `None` if none of them is above zero and finite.
pub(super) fn round_stretch(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut placeable: Vec<f64> = values.into_iter().filter(|it| it.is_finite() && *it > 0.0).collect();
    placeable.sort_by(f64::total_cmp);
    let (low, high) = (*placeable.first()?, *placeable.last()?);
    let (from, to) = (*round_numbers(low / 10.0, low).last()?, *round_numbers(high, high * 10.0).first()?);
    // A single value that is a round number: an axis needs two.
    if from < to { Some((from, to)) } else { Some((from / 2.0, to * 2.0)) }
}

/// Marks for a logarithmic axis between two values: the round numbers if there are at most `room`
/// of them; otherwise powers of ten, as many as there is room for.
pub(super) fn log_ticks((from, to): (f64, f64), room: usize) -> Vec<f64> {
    let round = round_numbers(from, to);
    if round.len() <= room {
        return round;
    }
    let powers: Vec<f64> = round.into_iter().filter(|tick| format!("{tick:e}").starts_with("1e")).collect();
    let step = powers.len().div_ceil(room.max(1)).max(1);
    powers.into_iter().step_by(step).collect()
}

/// The numbers 1, 2 and 5 times powers of ten, from `from` to `to`, both included.
fn round_numbers(from: f64, to: f64) -> Vec<f64> {
    // The rounding error of a logarithm must not lose a number exactly at the end.
    let (from, to) = (from * (1.0 - 1e-9), to * (1.0 + 1e-9));
    let exponents = from.log10().floor() as i32..=to.log10().ceil() as i32;
    // Parsed, each is rounded once: 5 times 0.001 would be 0.005 and a bit.
    let all = exponents.flat_map(|exponent| ["1", "2", "5"].map(|digit| format!("{digit}e{exponent}").parse()));
    all.filter_map(Result::ok).filter(|number| (from..=to).contains(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_and_nines_are_equally_far_apart_and_what_has_no_place_is_nowhere() {
        let ratios = Scale { measure: log, values: (0.1, 10.0), pixels: (0.0, 200.0) };
        assert_eq!([0.1, 1.0, 10.0].map(|value| ratios.place(value).round()), [0.0, 100.0, 200.0]);
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter().all(|value| ratios.place(value).is_nan()));
        let quantiles = Scale { measure: nines, values: (0.0, 0.999), pixels: (0.0, 300.0) };
        assert_eq!([0.0, 0.9, 0.99, 0.999].map(|value| quantiles.place(value).round()), [0.0, 100.0, 200.0, 300.0]);
        assert!([1.0, 1.5, -0.1, f64::NAN].into_iter().all(|value| quantiles.place(value).is_nan()));
    }

    #[test]
    fn an_axis_ends_at_two_round_numbers_that_hold_all_values() {
        assert_eq!(round_stretch([0.034, 1.3, f64::NAN, 0.0]), Some((0.02, 2.0)));
        assert_eq!(round_stretch([f64::NAN, 0.0, -3.0, f64::INFINITY]), None);
        assert_eq!(round_stretch([100.0]), Some((50.0, 200.0)));
    }

    #[test]
    fn there_are_no_more_marks_than_room() {
        assert_eq!(log_ticks((0.1, 2.0), 9), [0.1, 0.2, 0.5, 1.0, 2.0]);
        assert_eq!(log_ticks((1e-3, 1e6), 5), [1e-3, 1e-1, 1e1, 1e3, 1e5]);
    }
}
