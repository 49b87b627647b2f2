//! The load for a server, and how some of its requests hold their thread.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Requests per second, of both kinds together.
    pub(crate) rate: u64,
    pub(crate) shared: bool,
    pub(crate) fresh: bool,
    /// How long requests are sent that don't count.
    pub(crate) warm_up: Duration,
    pub(crate) duration: Duration,
    pub(crate) variant: Variant,
}

/// The percentage of the requests that hold their thread: one in twenty.
const PERCENT: u64 = 5;

/// How those requests hold it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) path: Option<&'static str>,
    /// How long such a request keeps a core busy that it doesn't share.
    computes: Duration,
    /// The limit on gmp: the p99 of the other requests as a multiple of their p99 without such
    /// requests.
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

    /// The percentage of the requests with this path.
    pub(crate) const fn percent(&self) -> u64 {
        if self.path.is_some() { PERCENT } else { 0 }
    }

    /// The CPU seconds that this adds to a request, averaged over all requests.
    pub(crate) fn cpu_per_request(&self) -> f64 {
        self.computes.as_secs_f64() * self.percent() as f64 / 100.0
    }
}
