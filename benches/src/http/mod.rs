//! HTTP at a constant rate, latencies counted from the due moments.
//!
//! A client that sends its next request when the last one was answered asks least when the server
//! is slowest, and reports the few latencies it saw then: it omits exactly what matters. Here every
//! request has a due moment that the server can't move, and its latency counts from that moment.
//! One thread a connection, on purpose: a thread that sleeps until a due moment and blocks in
//! `read` adds microseconds to what it measures, an event loop that is busy with other connections
//! adds whatever those take. And no runtime: one that is measured must not measure.

mod connection;
mod due;
mod load;
mod tally;

pub use self::connection::{Connection, Failure, Reuse};
pub use self::due::Share;
pub use self::load::{Kind, Load, Pool, Running, Seen};
pub use self::tally::Tally;
