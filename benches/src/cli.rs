//! What the command lines of all programs have in common.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{RangedU64ValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, Error};

/// A whole number of the range.
pub fn number<T>(range: std::ops::RangeInclusive<u64>) -> RangedU64ValueParser<T>
where
    T: TryFrom<u64> + Clone + Send + Sync,
{
    RangedU64ValueParser::new().range(range)
}

/// So many whole seconds.
pub fn seconds(range: std::ops::RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    number(range).map(Duration::from_secs)
}

/// An error in the value of an argument that is only seen beside the others.
pub fn bad_value<C: CommandFactory>(message: impl Display) -> Error {
    C::command().error(ErrorKind::ValueValidation, message)
}

/// What `main` returns: the error, if there is one, is printed behind the name of the program.
pub fn exit_code<E: Display>(program: &str, result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::FAILURE
        }
    }
}
