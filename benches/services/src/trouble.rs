//! What goes wrong while the other requests are measured.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::reclaimed;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trouble {
    /// Nothing goes wrong
    None,
    /// 20 requests a second block their thread for 100 ms
    Block,
    /// 20 requests a second compute for 20 ms
    Compute,
    /// 20 requests a second touch 64 MiB of fresh memory
    Faults,
    /// 20 requests a second read 256 pages of a mapped file that the kernel has reclaimed
    Reclaimed,
    /// 20 requests a second write 1 MiB to a file and wait for the disk, in the handler itself
    Disk,
    /// 32 more connections send half a request and then nothing
    SlowPeers,
    /// 100 more connections at once, five times a second, each with one request
    Burst,
}

impl Trouble {
    /// What the handler of such a request does, on the thread that polls it.
    pub(crate) fn act(self) {
        match self {
            Trouble::Block => std::thread::sleep(Duration::from_millis(100)),
            Trouble::Compute => compute(Duration::from_millis(20)),
            Trouble::Faults => drop(black_box(vec![1u8; 64 << 20])),
            Trouble::Reclaimed => reclaimed::read().expect("pages can be reclaimed"),
            Trouble::Disk => write_and_sync().expect("a file can be written"),
            Trouble::None | Trouble::SlowPeers | Trouble::Burst => {}
        }
    }

    /// Whether requests cause the trouble, and not connections.
    pub(crate) fn is_requested(self) -> bool {
        !matches!(self, Trouble::None | Trouble::SlowPeers | Trouble::Burst)
    }

    pub(crate) fn name(self) -> String {
        self.to_possible_value().expect("each trouble has a name").get_name().to_owned()
    }

    pub(crate) fn named(name: &str) -> Option<Trouble> {
        Trouble::from_str(name, false).ok()
    }
}

fn compute(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        (0..1000u64).map(black_box).for_each(|_| {});
    }
}

fn write_and_sync() -> std::io::Result<()> {
    let mut file: File = tempfile::tempfile()?;
    file.write_all(&[1; 1 << 20])?;
    file.sync_all()
}
