//! Tables and numbers as text, for the terminal and for the report's page.

/// A column: its heading, its width on the terminal (below zero: flush left), and its cells.
pub type Column<T> = (&'static str, i32, fn(&T) -> String);

pub fn headings<T>(columns: &[Column<T>]) -> String {
    columns.iter().map(|(heading, width, _)| padded(heading, *width)).collect()
}

pub fn line<T>(columns: &[Column<T>], row: &T) -> String {
    columns.iter().map(|(_, width, cell)| padded(&cell(row), *width)).collect()
}

fn padded(cell: &str, width: i32) -> String {
    let size = width.unsigned_abs() as usize;
    if width < 0 { format!("{cell:<size$}") } else { format!("{cell:>size$}") }
}

/// A cell of a table. A missing value is a dash.
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("–".to_owned(), |value| value.to_string())
}

pub fn decimals(value: f64) -> String {
    format!("{value:.2}")
}

/// `value` in `unit`: `ns`, `ms`, `B` or `bytes`, or one of them per something (`ns/op`); any other
/// unit is appended to the number unchanged. Zero has no unit, and NaN or infinity is a dash.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit.split(['/', ' ']).next() {
        _ if !value.is_finite() => "–".to_owned(),
        _ if value == 0.0 => "0".to_owned(),
        Some("ns") => scaled(value, &["ns", "µs", "ms", "s"]),
        Some("ms") => scaled(value * 1e6, &["ns", "µs", "ms", "s"]),
        Some("B" | "bytes") => scaled(value, &["B", "kB", "MB", "GB"]),
        _ => format!("{} {unit}", three_digits(value)).trim_end().to_owned(),
    }
}

/// A ratio with two decimals, three below 0.1.
pub fn ratio(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "–".to_owned(),
        _ if value < 0.0995 => format!("{value:.3}"),
        _ if value < 9.95 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// The label of a mark on a logarithmic axis: as short as possible.
pub fn mark(value: f64) -> String {
    let digits = format!("{value:.6}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A quantile as a percentile, with all its nines.
pub fn percentile(quantile: f64) -> String {
    mark((quantile * 1e8).round() / 1e6)
}

/// Each unit is a thousand times the previous one.
fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), units[unit])
}

fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    let digits = format!("{value:.decimals$}");
    if decimals == 0 { digits } else { digits.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_three_digits_and_the_unit_that_fits_and_nonsense_is_a_dash() {
        let times = [0.5, 53.0, 999.4, 999.6, 23_100.0, 1.1e6, 4e9, 5e13];
        let words = ["0.5 ns", "53 ns", "999 ns", "1 µs", "23.1 µs", "1.1 ms", "4 s", "50000 s"];
        assert_eq!(times.map(|nanos| quantity(nanos, "ns/op")), words);
        assert_eq!([quantity(0.05, "ms"), quantity(455.0, "B/task"), quantity(0.0, "ms")], ["50 µs", "455 B", "0"]);
        assert_eq!([0.0, 0.034, 0.45, 1.0, 9.94, 23.4].map(ratio), ["0.000", "0.034", "0.45", "1.00", "9.94", "23"]);
        assert_eq!([quantity(f64::NAN, "ns"), ratio(f64::INFINITY)], ["–", "–"]);
        assert_eq!([0.5, 0.9, 0.99, 0.9999].map(percentile), ["50", "90", "99", "99.99"]);
    }
}
