//! Drawings of the results: from plain data to SVG, nothing else.
//!
//! A library for plots draws bars and lines too, but in its own style: with colours as attributes,
//! which a style sheet for dark pages can't change, with a legend where a name at the end of a line
//! is quicker to read, and without an axis of nines. A value that was not measured is not drawn,
//! and no content of a results file makes a drawing that a viewer refuses (`svg` has the rule).

mod curves;
mod panel;
pub(crate) mod ratios;
mod scale;
mod stall;
mod svg;

pub(crate) use self::curves::{distribution, distributions, panels, procs};
pub(crate) use self::panel::Line;
pub(crate) use self::stall::stall;

/// The style sheet of all plots, for light and dark.
///
/// Colours identify the side, but never alone: every line and bar also has its name at its end or a
/// shape of its own. Readers with any kind of colour blindness can distinguish blue and orange.
/// Each colour has two versions, chosen for a contrast of at least 4.5 to 1 with their background.
/// The sheet has no variables, because not every viewer of SVG knows them.
pub(crate) const SHEET: &str = include_str!("plots.css");

/// The approximate width of a text, rather too wide than too narrow: no font is available here.
fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * 7.3
}
