//! What lies between hosts.

use crate::Host;
use crate::engine::{Way, set_way};

/// Cuts the way between two hosts, in both directions: what one sends is lost. A datagram is gone. TCP sends
/// again, at ever longer intervals, so after [`heal`] a connection goes on; after two minutes of virtual time
/// an attempt to connect fails (`TimedOut`), and after fifteen a connection does.
///
/// Packets that are under way still arrive. Does nothing without a seed.
///
/// ```
/// use gmp_sim::{Host, heal, partition};
///
/// let (a, b) = (Host::new("a"), Host::new("b"));
/// partition(&a, &b);
/// heal(&a, &b);
/// ```
pub fn partition(a: &Host, b: &Host) {
    set_both(a, b, Way::Cut);
}

/// Cuts the way from one host to the other one. The other direction stays as it is.
///
/// ```
/// use gmp_sim::{Host, partition_oneway};
///
/// let (a, b) = (Host::new("a"), Host::new("b"));
/// partition_oneway(&a, &b);
/// ```
pub fn partition_oneway(from: &Host, to: &Host) {
    set_way(from.number(), to.number(), Way::Cut);
}

/// Ends a [`partition`], or one of a single direction, and a [`hold`].
///
/// ```
/// use gmp_sim::{Host, heal};
///
/// let (a, b) = (Host::new("a"), Host::new("b"));
/// heal(&a, &b);
/// ```
pub fn heal(a: &Host, b: &Host) {
    set_both(a, b, Way::Open);
}

/// Holds back what two hosts send to each other, datagrams, too, until [`release`].
///
/// ```
/// use gmp_sim::{Host, hold, release};
///
/// let (a, b) = (Host::new("a"), Host::new("b"));
/// hold(&a, &b);
/// release(&a, &b);
/// ```
pub fn hold(a: &Host, b: &Host) {
    set_both(a, b, Way::Held);
}

/// Ends a [`hold`], and a [`partition`]. What was held back arrives in its order.
///
/// ```
/// use gmp_sim::{Host, release};
///
/// let (a, b) = (Host::new("a"), Host::new("b"));
/// release(&a, &b);
/// ```
pub fn release(a: &Host, b: &Host) {
    set_both(a, b, Way::Open);
}

fn set_both(a: &Host, b: &Host, way: Way) {
    set_way(a.number(), b.number(), way);
    set_way(b.number(), a.number(), way);
}
