//! What runs under a seed.

use crate::{controlled, faults, forms};

/// By name.
pub(crate) const ALL: &[(&str, fn())] = &[
    ("deadlock_of_locks", faults::deadlock_of_locks),
    ("lost_update", faults::lost_update),
    ("order_of_senders", faults::order_of_senders),
    ("order_in_local_set", faults::order_in_local_set),
    ("order_of_timers", faults::order_of_timers),
    ("order_of_threads", faults::order_of_threads),
    ("update_by_two_workers", faults::update_by_two_workers),
    ("spins_on_timers", faults::spins_on_timers),
    ("correct", faults::correct),
    ("controlled", controlled::scenario),
    ("forms", forms::scenario),
];
