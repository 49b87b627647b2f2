//! Random programs, run on gmp and on tokio: all events must happen in the same order, at the same
//! moments.
//!
//! A [`Program`] is data. [`generate`] makes one from a number, [`run`] interprets it on either
//! [`Library`], and [`shrink`] removes all parts that a difference does not need.

mod generate;
mod interpret;
mod library;
mod program;
mod shrink;
mod world;

pub use generate::{Shape, generate};
pub use interpret::{run, run_on_one_worker};
pub use library::{Ended, Gmp, Library, Tokio};
pub use program::{Branch, Program, Step, StepKind};
pub use shrink::shrink;
pub use world::{Event, Trace, What};
