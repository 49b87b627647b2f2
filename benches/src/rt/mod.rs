//! All runtimes of the table: gmp and tokio, whose traits gmp-micro shares, and smol.

mod io;
mod smol;

pub use gmp_micro::rt::{Blocking, Gmp, InPlace, Rt, Timers, Tokio, in_task};

pub use self::io::Io;
pub use self::smol::Smol;
