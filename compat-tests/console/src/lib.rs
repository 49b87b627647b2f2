//! Runs programs under console-subscriber, and reads what it tells tokio-console.
//!
//! The package `../console-on-tokio` compiles this library with the real tokio.

mod console;
pub mod programs;
mod table;
mod view;

pub use console::Console;
pub use view::{Operation, Poll, Resource, Task, View};
