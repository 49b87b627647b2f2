//! `Handle::tasks`: which tasks it finds, and what it says of them.

mod crowd;
mod found;
mod local;
mod sigquit;
mod text;
mod tree;
mod waits;
