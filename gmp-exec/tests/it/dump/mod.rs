//! `Handle::dump`, and traces of single futures.

mod beside;
mod found;
mod trace;
