//! Command lines of `--flag value` pairs.
//!
//! Small programs with a handful of flags each: a hundred lines here are less than a dependency that parses
//! subcommands. The rule for every message: it names the flag, the value that was given, and what is allowed.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::{env, fmt, process};

/// Parses this process's arguments; prints `usage` and ends the process on `--help` (code 0) or on a bad argument
/// (message on stderr, code 2).
pub fn parse_or_exit<T>(usage: &str, parse: impl FnOnce(Arguments) -> Result<T, BadArgument>) -> T {
    let arguments: Vec<String> = env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    if arguments.iter().any(|it| it == "--help" || it == "-h") {
        println!("{usage}");
        process::exit(0);
    }
    parse(Arguments::new(arguments)).unwrap_or_else(|error| {
        eprintln!("{error}\n\n{usage}");
        process::exit(2);
    })
}

/// The arguments that are still to be parsed.
#[derive(Debug)]
pub struct Arguments {
    rest: std::vec::IntoIter<String>,
}

impl Arguments {
    /// Starts with all of `arguments`, the program's name left out.
    pub fn new<S: Into<String>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments: Vec<String> = arguments.into_iter().map(Into::into).collect();
        Arguments { rest: arguments.into_iter() }
    }

    /// The next flag, or `None` at the end.
    pub fn flag(&mut self) -> Option<String> {
        self.rest.next()
    }

    /// The value of `flag`; `allowed` says in words what it may be.
    ///
    /// # Errors
    ///
    /// There is none left, or the next argument is a flag: whoever forgets a value means no file of that name.
    pub fn value(&mut self, flag: &str, allowed: &str) -> Result<String, BadArgument> {
        let value = self.rest.next().ok_or_else(|| BadArgument(format!("{flag} needs a value: {allowed}")))?;
        if value.starts_with("--") {
            return Err(BadArgument(format!("{flag} needs a value before `{value}`: {allowed}")));
        }
        Ok(value)
    }

    /// The value of `flag`, a whole number in `allowed`.
    ///
    /// # Errors
    ///
    /// It is missing, not a whole number, or out of range.
    pub fn number<T>(&mut self, flag: &str, allowed: RangeInclusive<T>) -> Result<T, BadArgument>
    where
        T: FromStr + PartialOrd + fmt::Display,
    {
        let words = format!("a whole number from {} to {}", allowed.start(), allowed.end());
        let value = self.value(flag, &words)?;
        match value.parse() {
            Ok(number) if allowed.contains(&number) => Ok(number),
            _ => Err(BadArgument::value(flag, &value, &words)),
        }
    }

    /// The value of `flag`, one of the words in `allowed`.
    ///
    /// # Errors
    ///
    /// It is missing, or another word.
    pub fn one_of(&mut self, flag: &str, allowed: &[&'static str]) -> Result<&'static str, BadArgument> {
        let (last, others) = allowed.split_last().expect("something is allowed");
        let words = if others.is_empty() { (*last).to_owned() } else { format!("{} or {last}", others.join(", ")) };
        let value = self.value(flag, &words)?;
        allowed.iter().find(|word| **word == value).copied().ok_or_else(|| BadArgument::value(flag, &value, &words))
    }
}

/// An argument that is not allowed, and what is.
#[derive(Debug)]
pub struct BadArgument(String);

impl BadArgument {
    /// `flag` can't be `value`.
    pub fn value(flag: &str, value: &str, allowed: &str) -> Self {
        BadArgument(format!("{flag} can't be `{value}`: it must be {allowed}"))
    }

    /// There is no flag of this name.
    pub fn unknown(flag: &str, allowed: &[&str]) -> Self {
        BadArgument(format!("unknown argument `{flag}`; allowed are {}, --help", allowed.join(", ")))
    }

    /// One excludes the other.
    pub fn together(flag: &str, other: &str) -> Self {
        BadArgument(format!("{flag} and {other} can't be given together"))
    }

    /// `flag` was not given.
    pub fn missing(flag: &str) -> Self {
        BadArgument(format!("{flag} is required"))
    }
}

impl fmt::Display for BadArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadArgument {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_range_is_named_with_the_range() {
        let mut arguments = Arguments::new(["--procs", "0"]);
        let flag = arguments.flag().unwrap();
        let error = arguments.number(&flag, 1..=1024_u16).unwrap_err();
        assert_eq!(error.to_string(), "--procs can't be `0`: it must be a whole number from 1 to 1024");
    }

    #[test]
    fn a_word_that_is_not_allowed_is_named_with_those_that_are() {
        let error = Arguments::new(["async-std"]).one_of("--without", &["smol", "go", "rayon"]).unwrap_err();
        assert_eq!(error.to_string(), "--without can't be `async-std`: it must be smol, go or rayon");
        assert_eq!(Arguments::new(["go"]).one_of("--without", &["smol", "go"]).unwrap(), "go");
    }

    #[test]
    fn a_missing_value_says_what_is_allowed() {
        let error = Arguments::new(["--reps"; 0]).number("--reps", 1..=9_u8).unwrap_err();
        assert_eq!(error.to_string(), "--reps needs a value: a whole number from 1 to 9");
    }

    #[test]
    fn a_flag_is_no_value_and_both_are_named() {
        let error = Arguments::new(["--quick"]).value("--json", "the path of a file").unwrap_err();
        assert_eq!(error.to_string(), "--json needs a value before `--quick`: the path of a file");
        assert_eq!(Arguments::new(["-"]).value("--json", "the path of a file").unwrap(), "-");
    }
}
