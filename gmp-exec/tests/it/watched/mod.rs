//! What is known of single tasks: hooks at their events, their names, and what their panics do.

mod hooks;
mod names;
mod order;
mod panics;
