//! The two configurations in which everything is compared: tokio's stable API, and all of it with
//! `--cfg tokio_unstable`.

use std::path::{Path, PathBuf};

use crate::source::drop_in;

/// One of the two configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Stable,
    /// Runs only the tests in files that ask for the cfg, and compares with fewer sets of features:
    /// whatever does not depend on the cfg is compared in the other round.
    Unstable,
}

/// All stable features.
const ALL: &str = "full,test-util";

/// All features that mean something with the cfg, too.
const ALL_UNSTABLE: &str = "full,test-util,io-uring,schedule-latency,taskdump,tracing";

/// All features, no feature, and each feature by itself. `full` is left out, because it is all
/// features but one, and so are features that need `tokio_unstable` and names of dependencies.
const STABLE_SETS: &[&str] = &[
    ALL,
    "",
    "fs",
    "io-std",
    "io-util",
    "macros",
    "net",
    "parking_lot",
    "process",
    "rt",
    "rt-multi-thread",
    "signal",
    "sync",
    "test-util",
    "time",
];

const UNSTABLE_SETS: &[&str] = &[ALL_UNSTABLE, ALL, "", "process", "rt"];

impl Round {
    /// The compiler's flags.
    pub(crate) fn rustflags(self) -> &'static str {
        match self {
            Round::Stable => "",
            Round::Unstable => "--cfg tokio_unstable",
        }
    }

    /// The features of the tests, and of the items that the table counts by module.
    pub(crate) fn features(self) -> &'static str {
        match self {
            Round::Stable => ALL,
            Round::Unstable => ALL_UNSTABLE,
        }
    }

    /// The sets of features with which public items are compared.
    pub(crate) fn sets(self) -> &'static [&'static str] {
        match self {
            Round::Stable => STABLE_SETS,
            Round::Unstable => UNSTABLE_SETS,
        }
    }

    /// Whether a file of tokio's tests is part of this round.
    pub(crate) fn wants(self, test: &str) -> bool {
        match self {
            Round::Stable => true,
            Round::Unstable => test.contains("tokio_unstable"),
        }
    }

    /// Whether tokio's unit tests are part of this round. Those of the code that the drop-in uses
    /// don't depend on the cfg.
    pub(crate) fn has_units(self) -> bool {
        self == Round::Stable
    }

    /// The folder of the packages that are made. Each round has its own, because cargo would build
    /// everything again whenever the flags change.
    pub(crate) fn folder(self) -> PathBuf {
        drop_in().join(match self {
            Round::Stable => "conformance/work",
            Round::Unstable => "conformance/work-unstable",
        })
    }

    /// The target folder, which is apart from others for the same reason.
    pub(crate) fn target_folder(self) -> PathBuf {
        let name = match self {
            Round::Stable => "conformance",
            Round::Unstable => "conformance-unstable",
        };
        match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => PathBuf::from(folder).join(name),
            None => self.folder().join("target"),
        }
    }

    /// The file with the table of public items.
    pub(crate) fn table(self) -> &'static Path {
        Path::new(match self {
            Round::Stable => "API.md",
            Round::Unstable => "API-unstable.md",
        })
    }
}
