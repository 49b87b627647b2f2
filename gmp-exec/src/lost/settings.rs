//! What happens at the end of a runtime that has lost tasks: `Builder::leaks`, and
//! `GMP_LEAKS=off|warn|deny` for runtimes that don't say.

use std::io;

use crate::sys::environment;
use crate::task::Observed;

const VARIABLE: &str = "GMP_LEAKS";

/// What a runtime does at its end with tasks that can never run again; see
/// [`Builder::leaks`](crate::runtime::Builder::leaks).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leaks {
    /// Nothing. The wakers of the tasks are not counted, so such tasks are not found.
    #[default]
    Off,
    /// Prints them.
    Warn,
    /// Panics with a message that names them. A thread that is unwinding already prints them.
    Deny,
}

impl Leaks {
    pub(crate) fn from_env() -> io::Result<Option<Leaks>> {
        environment::parsed(VARIABLE, parse)
    }

    pub(crate) fn observed(self) -> Observed {
        if self == Leaks::Off { Observed::No } else { Observed::Yes }
    }
}

fn parse(text: &str) -> Result<Leaks, String> {
    match text.trim() {
        "off" => Ok(Leaks::Off),
        "warn" => Ok(Leaks::Warn),
        "deny" => Ok(Leaks::Deny),
        _ => Err(format!("{VARIABLE}: unknown value `{text}`; allowed are off, warn and deny")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Leaks, parse};

    #[test]
    fn a_value_is_one_of_three() {
        assert_eq!(parse("off"), Ok(Leaks::Off));
        assert_eq!(parse(" warn "), Ok(Leaks::Warn));
        assert_eq!(parse("deny"), Ok(Leaks::Deny));
    }

    #[test]
    fn an_unknown_value_is_named_with_what_is_allowed() {
        assert_eq!(parse("on").unwrap_err(), "GMP_LEAKS: unknown value `on`; allowed are off, warn and deny");
        assert_eq!(parse("").unwrap_err(), "GMP_LEAKS: unknown value ``; allowed are off, warn and deny");
    }
}
