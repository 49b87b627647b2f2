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

/// How some of the requests hold their thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) path: Option<&'static str>,
    /// The percentage of the requests with this path.
    pub(crate) percent: u64,
    /// How long such a request keeps a core busy that it doesn't share.
    pub(crate) computes: Duration,
    /// The limit on gmp: the p99 of the other requests, as a multiple of that without these.
    pub(crate) limit: Option<f64>,
}

impl Variant {
    pub(crate) const ALL: [Variant; 3] = [Variant::PLAIN, Variant::BLOCK, Variant::COMPUTE];

    pub(crate) const PLAIN: Variant =
        Variant { name: "plain", path: None, percent: 0, computes: Duration::ZERO, limit: None };

    pub(crate) const BLOCK: Variant =
        Variant { name: "block", path: Some("/block?ms=100"), percent: 5, limit: Some(2.0), ..Variant::PLAIN };

    pub(crate) const COMPUTE: Variant = Variant {
        name: "compute",
        path: Some("/compute?ms=20"),
        percent: 5,
        computes: Duration::from_millis(20),
        limit: Some(3.0),
    };
}
