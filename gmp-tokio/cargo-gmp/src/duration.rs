//! Times on the command line.

use std::time::Duration;

/// `5s`, `2m` or `1h`; seconds, if nothing else is said. `None`: this is no time, or it is zero.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let time = number.parse::<u64>().ok()?.checked_mul(seconds).map(Duration::from_secs);
    time.filter(|time| !time.is_zero())
}
