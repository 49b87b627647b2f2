//! Runs programs under console-subscriber, and reads what it tells tokio-console.

mod console;
mod view;

pub use console::Console;
pub use view::{Task, View};
