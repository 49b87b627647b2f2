//! Drawings of the results: from plain data to SVG, nothing else.
//!
//! The plots are bars, a few lines and words in files of a page or two, and maud writes their
//! elements. A library for plots draws those too, but in its own style: with colours as attributes,
//! which a style sheet for dark pages can't change, with a legend where a name at the end of a line
//! is quicker to read, and without an axis of nines. A value that was not measured is not drawn,
//! and no possible content of a results file produces a drawing that a viewer refuses (`svg` has
//! the rule).

mod lines;
mod quantity;
mod scale;
mod style;
mod svg;

pub(crate) mod curves;
pub(crate) mod ratios;

pub(crate) use self::lines::Line;
pub(crate) use self::quantity::{quantity, ratio};
pub(crate) use self::style::sheet;
