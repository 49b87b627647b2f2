//! A flight recorder: what ran on which processor, what woke it, and where the time went.
//!
//! [`Recorder`] records a runtime into memory and overwrites the oldest events, so it can run all
//! the time. A [`Snapshot`] of the last seconds is opened in [Perfetto](https://ui.perfetto.dev),
//! or read by `cargo gmp trace`.
//!
//! # Without a change to the program
//!
//! `GMP_TRACE=FILE` records every runtime of a program from its beginning, and writes the file when
//! the runtime ends. More settings follow the file, separated by commas:
//!
//! | setting | effect |
//! |---|---|
//! | `size=4MiB` | memory per thread, from `4KiB` to `1GiB` |
//! | `on-take=50ms` | writes a file when a poll has held its thread for so long |
//! | `on-panic` | writes a file when a task panics, unless that ends the process |
//! | `on-sigquit` | writes a file when the process gets SIGQUIT (Ctrl-\), which then also prints the tasks |
//! | `roll=1GiB` | writes everything, into files with so many bytes together (`4MiB` to `1024GiB`) |
//!
//! A poll is noticed when sysmon finds it, so a time below the blocking threshold (10 ms) may be
//! noticed late.
//!
//! With `on-take`, `on-panic` or `on-sigquit`, no file is written at the end, and the second file
//! is called `FILE-2`, up to ten. Building a runtime fails if a setting is unknown, or if the file
//! can't be written. Each runtime of a program has files of its own, in the order in which they are
//! built: `FILE`, `FILE-runtime2`, `FILE-runtime3`, ..., up to a hundred.
//!
//! With `roll`, the files are called `FILE-000001`, `FILE-000002` and so on (the number comes
//! before the extension). A file has what happened in ten seconds, or less if that is much. The
//! oldest files are deleted when there are too many bytes, and so are those of an earlier process.
//! Each file can be opened alone; several that follow each other, put into one (`cat`), are a
//! trace, too. If threads record faster than the files are written, events are missing, and the
//! files say how many. Beside the other costs, a process that rolls has a wake-up a second.
//!
//! # What is not recorded
//!
//! Tasks of a `LocalSet` are recorded, but not counted: they are drawn inside the poll in which
//! they run. What the future given to `block_on` of a multi-thread runtime spawns, wakes and marks
//! is on the track of other threads.

mod asked;
mod clock;
mod drawing;
mod event;
mod files;
mod names;
mod recorder;
mod recording;
mod request;
mod ring;
mod roll;
mod rolled_files;
mod settings;
mod sights;
mod snapshot;
mod stuck;
mod tap;

pub(crate) use asked::record_until_written;
pub(crate) use event::{Kind, Left, Taken};
pub(crate) use files::start;
pub use recorder::{Recorder, StartError};
pub(crate) use recording::{Owner, Recording};
pub(crate) use settings::Settings;
pub use snapshot::Snapshot;
pub(crate) use stuck::StuckPoll;
pub(crate) use tap::{Recorded, Tap, is_any_recorded, is_new, scheduled};

pub use crate::observe::mark;
