//! HTTP at a constant rate, with latencies counted from the due moments.
//!
//! A client that sends its next request when the last one was answered asks least when the server
//! is slowest, and so omits exactly the latencies that matter. Here every request has a due moment
//! that the server can't move. Each connection has a thread, on purpose: a thread that sleeps until
//! a due moment and blocks in `read` adds microseconds to the measurement, while an event loop that
//! is busy with other connections adds the time that those take.

mod connection;
mod due;
mod load;
mod tally;

pub use self::connection::{Connection, Failure};
pub use self::load::{Holding, Load, Running, Seen};
pub use self::tally::Tally;
