//! What is compared.

use gmp_benches::cli::{Arguments, BadArgument};
use gmp_benches::plots;

/// A runtime that the application runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Gmp,
    Tokio,
    /// gmp, but nobody notices a handler that holds its thread.
    GmpNoSysmon,
}

impl Side {
    pub(crate) const ALL: [Side; 3] = [Side::Gmp, Side::Tokio, Side::GmpNoSysmon];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Side::Gmp => "gmp",
            Side::Tokio => "tokio",
            Side::GmpNoSysmon => "gmp_no_sysmon",
        }
    }

    /// What it is in a report.
    pub(crate) const fn reported(self) -> plots::Side {
        match self {
            Side::Gmp => plots::Side::Gmp,
            Side::Tokio => plots::Side::Tokio,
            Side::GmpNoSysmon => plots::Side::GmpWithoutSysmon,
        }
    }

    fn named(name: &str) -> Option<Side> {
        Side::ALL.into_iter().find(|side| side.name() == name)
    }
}

/// The value of `flag`, a side.
pub(crate) fn one(arguments: &mut Arguments, flag: &str) -> Result<Side, BadArgument> {
    let allowed = "gmp, tokio or gmp_no_sysmon";
    let value = arguments.value(flag, allowed)?;
    Side::named(&value).ok_or_else(|| BadArgument::value(flag, &value, allowed))
}

/// The value of `flag`, sides with commas between.
pub(crate) fn several(arguments: &mut Arguments, flag: &str) -> Result<Vec<Side>, BadArgument> {
    let allowed = "one or more of gmp, tokio, gmp_no_sysmon, each once, with commas between";
    let value = arguments.value(flag, allowed)?;
    let sides: Option<Vec<Side>> = value.split(',').map(Side::named).collect();
    let each_once = |sides: &Vec<Side>| (1..sides.len()).all(|at| !sides[..at].contains(&sides[at]));
    sides.filter(each_once).ok_or_else(|| BadArgument::value(flag, &value, allowed))
}
