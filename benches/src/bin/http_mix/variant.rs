//! What a part of the requests does to its thread.

use std::time::Duration;

/// So many of a hundred requests do it, one in twenty.
const PERCENT: u64 = 5;

/// What the others do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// What is requested of the application.
    pub(crate) path: Option<&'static str>,
    /// For how long one such request keeps a core busy, if it has one to itself.
    computes: Duration,
    /// On gmp, how many times their p99 without such requests the p99 of the others may be.
    pub(crate) limit: Option<f64>,
}

impl Variant {
    pub(crate) const PLAIN: Variant = Variant { name: "plain", path: None, computes: Duration::ZERO, limit: None };
    pub(crate) const BLOCK: Variant =
        Variant { name: "block", path: Some("/block?ms=100"), computes: Duration::ZERO, limit: Some(2.0) };
    pub(crate) const COMPUTE: Variant = Variant {
        name: "compute",
        path: Some("/compute?ms=20"),
        computes: Duration::from_millis(20),
        limit: Some(3.0),
    };

    pub(crate) const ALL: [Variant; 3] = [Variant::PLAIN, Variant::BLOCK, Variant::COMPUTE];

    /// How many of a hundred requests are of this path.
    pub(crate) const fn percent(&self) -> u64 {
        if self.path.is_some() { PERCENT } else { 0 }
    }

    /// CPU seconds that this adds to a request, on average over all of them.
    pub(crate) fn cpu_per_request(&self) -> f64 {
        self.computes.as_secs_f64() * self.percent() as f64 / 100.0
    }
}
