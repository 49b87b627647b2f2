//! Code that the command lines of all programs share.

use std::fmt::Display;
use std::process::ExitCode;
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

/// The return value of `main`: an error is printed after the name of the program.
pub fn exit_code<E: Display>(program: &str, result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::FAILURE
        }
    }
}
