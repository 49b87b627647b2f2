//! `Handle::tasks`: which tasks it finds, and what it says of them.

mod asked;
mod crowd;
mod ending;
mod fork;
mod found;
mod local;
mod program;
#[cfg(feature = "insight")]
mod recording;
mod sigquit;
mod text;
mod tree;
mod waits;
