//! What the dump says of the process as a whole, and not of one runtime.

use std::fmt;

use super::channels::{Channels, long_channels};
use super::reads::{DroppedReads, dropped_reads};

/// Lines about each.
const MOST_LINES: usize = 10;

pub(super) struct OfProcess {
    channels: Vec<Channels>,
    reads: Vec<DroppedReads>,
}

impl OfProcess {
    pub(super) fn look() -> OfProcess {
        OfProcess { channels: long_channels(), reads: dropped_reads() }
    }

    /// A line of JSON each.
    pub(super) fn json(&self) -> impl Iterator<Item = String> {
        self.channels.iter().map(Channels::json).chain(self.reads.iter().map(DroppedReads::json))
    }
}

impl fmt::Display for OfProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        section(f, "channels that hold many messages", &self.channels)?;
        section(f, "reads that were dropped after they had taken bytes", &self.reads)
    }
}

fn section(f: &mut fmt::Formatter<'_>, head: &str, lines: &[impl fmt::Display]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(f, "{head}:")?;
    lines.iter().take(MOST_LINES).try_for_each(|line| writeln!(f, "  {line}"))?;
    match lines.len().saturating_sub(MOST_LINES) {
        0 => Ok(()),
        more => writeln!(f, "  {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Section(usize);

    impl fmt::Display for Section {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            section(f, "numbers", &(0..self.0).collect::<Vec<usize>>())
        }
    }

    #[test]
    fn a_section_has_a_head_and_a_limit() {
        assert_eq!(Section(0).to_string(), "");
        assert_eq!(Section(2).to_string(), "numbers:\n  0\n  1\n");
        assert!(Section(12).to_string().ends_with("\n  9\n  2 more\n"));
    }
}
