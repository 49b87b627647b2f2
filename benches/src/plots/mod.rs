//! Drawings of what was measured: from plain data to SVG, nothing else.
//!
//! Hand-written on purpose. The plots are bars, a few lines and words in files of a page or two; a library for plots draws
//! those too, but in its own looks, with colours as attributes that a style sheet for dark pages can't reach, with a legend
//! where a name at the end of a line is read faster, and without an axis of nines. What was not measured is not drawn, and
//! nothing that a file of results can hold makes a drawing that a viewer refuses (`svg` has the rule).
//!
//! A plot is a function without side effects from its data to a string: with `inline`, an `<svg>` for a page that has the
//! style sheet [`sheet`], with `file`, a file of its own.

mod labels;
mod lines;
mod quantity;
mod scale;
mod style;
mod svg;

pub mod course;
pub mod distribution;
pub mod procs;
pub mod ratios;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

pub use self::quantity::{quantity, ratio};
pub use self::style::sheet;
pub use self::svg::escape;

/// Who was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Gmp as it is.
    Gmp,
    /// Gmp with sysmon off.
    #[serde(rename = "gmp_no_sysmon")]
    #[value(name = "gmp_no_sysmon")]
    GmpWithoutSysmon,
    /// Tokio.
    Tokio,
}

impl Side {
    /// What it is called on command lines and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Side::GmpWithoutSysmon => "gmp_no_sysmon",
            Side::Gmp | Side::Tokio => self.name(),
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Side::Gmp => "gmp",
            Side::GmpWithoutSysmon => "no sysmon",
            Side::Tokio => "tokio",
        }
    }

    /// The class of its colour.
    fn ink(self) -> &'static str {
        match self {
            Side::Gmp | Side::GmpWithoutSysmon => "gmp",
            Side::Tokio => "tokio",
        }
    }

    fn dashed(self) -> bool {
        self == Side::GmpWithoutSysmon
    }
}
