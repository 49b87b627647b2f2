//! Drawings of the results: from plain data to SVG, nothing else.
//!
//! Hand-written on purpose. The plots are bars, a few lines and words in files of a page or two. A
//! library for plots draws those too, but in its own style: with colours as attributes, which a
//! style sheet for dark pages can't change, with a legend where a name at the end of a line is
//! quicker to read, and without an axis of nines. A value that was not measured is not drawn, and
//! no possible content of a results file produces a drawing that a viewer refuses (`svg` has the
//! rule).
//!
//! A plot is a function without side effects from its data to a string: `inline` returns an `<svg>`
//! for a page that has the style sheet [`sheet`], `file` the contents of a file of its own.

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

/// The CSS class for a side's colour.
fn ink(side: Side) -> &'static str {
    match side {
        Side::Gmp | Side::GmpWithoutSysmon => "gmp",
        Side::Tokio => "tokio",
        Side::Go => "go",
    }
}
