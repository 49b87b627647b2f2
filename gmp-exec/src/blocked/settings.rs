//! `GMP_BLOCKED=print,summary,signal`: what the report thread writes to standard error, and whether
//! it may interrupt threads that compute.

use std::io;

use crate::sys::environment;

const VARIABLE: &str = "GMP_BLOCKED";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// A line when a place blocks for the first time, and then now and then.
    pub(super) print: bool,
    /// The whole report at the end of the runtime.
    pub(super) summary: bool,
    /// A thread that computes is interrupted by a signal, to see where.
    pub(super) signal: bool,
}

impl Settings {
    pub(crate) fn is_any_on(self) -> bool {
        self.print || self.summary || self.signal
    }

    pub(crate) fn has_summary(self) -> bool {
        self.summary
    }

    pub(crate) fn from_env() -> io::Result<Settings> {
        Ok(environment::parsed(VARIABLE, parse)?.unwrap_or_default())
    }
}

fn parse(text: &str) -> Result<Settings, String> {
    let mut settings = Settings::default();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        match item {
            "print" => settings.print = true,
            "summary" => settings.summary = true,
            "signal" => settings.signal = true,
            _ => return Err(format!("{VARIABLE}: unknown setting `{item}`; allowed are print, summary and signal")),
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::{Settings, parse};

    #[test]
    fn settings_are_read_in_any_order() {
        assert_eq!(parse("").unwrap(), Settings::default());
        assert_eq!(parse("print").unwrap(), Settings { print: true, summary: false, signal: false });
        assert_eq!(parse("summary, print").unwrap(), Settings { print: true, summary: true, signal: false });
        assert_eq!(parse("summary,signal").unwrap(), Settings { print: false, summary: true, signal: true });
    }

    #[test]
    fn an_unknown_setting_is_named_with_what_is_allowed() {
        let error = parse("print,stacks").unwrap_err();
        assert_eq!(error, "GMP_BLOCKED: unknown setting `stacks`; allowed are print, summary and signal");
    }
}
