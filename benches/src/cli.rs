//! Code that the command lines of all programs share.

use std::time::Duration;

use clap::builder::{RangedU64ValueParser, TypedValueParser};

/// Parses a whole number in the range.
pub fn number<T>(range: std::ops::RangeInclusive<u64>) -> RangedU64ValueParser<T>
where
    T: TryFrom<u64> + Clone + Send + Sync,
{
    RangedU64ValueParser::new().range(range)
}

/// Parses a duration in whole seconds.
pub fn seconds(range: std::ops::RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    number(range).map(Duration::from_secs)
}
