//! Drawings of what was measured: from plain data to SVG, nothing else.
//!
//! Hand-written on purpose. The plots are bars, a few lines and words in files of a page or two; a
//! library for plots draws those too, but in its own looks, with colours as attributes that a style
//! sheet for dark pages can't reach, with a legend where a name at the end of a line is read
//! faster, and without an axis of nines. What was not measured is not drawn, and nothing that a
//! file of results can hold makes a drawing that a viewer refuses (`svg` has the rule).
//!
//! A plot is a function without side effects from its data to a string: with `inline`, an `<svg>`
//! for a page that has the style sheet [`sheet`], with `file`, a file of its own.

mod labels;
mod lines;
mod quantity;
mod scale;
mod style;
mod svg;

pub(crate) mod course;
pub(crate) mod distribution;
pub(crate) mod procs;
pub(crate) mod ratios;

use gmp_benches::side::Side;

pub(crate) use self::lines::Line;
pub(crate) use self::quantity::{quantity, ratio};
pub(crate) use self::style::sheet;

/// The class of a side's colour.
fn ink(side: Side) -> &'static str {
    match side {
        Side::Gmp | Side::GmpWithoutSysmon => "gmp",
        Side::Tokio => "tokio",
    }
}
