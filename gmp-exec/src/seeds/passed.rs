//! What a test returns.

use std::process::ExitCode;

/// What a test can return that runs under seeds: the value that says that it has passed.
#[diagnostic::on_unimplemented(
    message = "a test with `seeds` can't return `{Self}`",
    note = "it returns `()`, `ExitCode` or a `Result` of these"
)]
pub trait Passed {
    fn passed() -> Self;
}

impl Passed for () {
    fn passed() {}
}

impl Passed for ExitCode {
    fn passed() -> ExitCode {
        ExitCode::SUCCESS
    }
}

impl<T: Passed, E> Passed for Result<T, E> {
    fn passed() -> Self {
        Ok(T::passed())
    }
}
