//! All runtimes of the table: gmp and tokio, whose traits gmp-micro shares, and smol.

mod io;
mod smol;

pub use gmp_micro::rt::{Gmp, Rt, Tokio, Twin, Work, in_task, join_all};

pub use self::io::Io;
pub use self::smol::Smol;
