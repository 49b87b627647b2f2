//! What runs under a seed.

use crate::{controlled, correct, faults, forms, memory, network, order, pipes, planted, time_up};

/// By name, beside those with a fault and those without.
const OTHERS: &[(&str, fn())] = &[
    ("spins", faults::spins),
    ("spins_on_timers", faults::spins_on_timers),
    ("task_spins", time_up::task_spins),
    ("closure_spins", time_up::closure_spins),
    ("controlled", controlled::scenario),
    ("handles_a_signal", controlled::handles_a_signal),
    ("forms", forms::scenario),
    ("memory", memory::scenario),
    ("pipes", pipes::scenario),
    ("all_run_at_a_yield", order::all_run_at_a_yield),
    ("on_workers", order::on_workers),
    ("internet_sequences", network::sequences::internet),
    ("unix_sequences", network::sequences::unix),
    ("unix_sequences_with_short_reads", network::sequences::unix_with_short_reads),
    ("hosts", network::hosts::scenario),
    ("no_hosts", network::hosts::inert),
    ("leaves", network::streams::leaves),
    ("masked", network::masked::scenario),
    ("names", network::names::scenario),
    ("asks_the_system", network::names::asks_the_system),
    ("ten_datagrams", network::datagrams::ten_datagrams),
    ("datagrams", network::datagrams::datagrams),
    ("streams", network::streams::scenario),
    ("a_megabyte", network::streams::a_megabyte),
    ("unix", network::unix::scenario),
    ("unix_waits", network::unix::waits),
];

pub(crate) fn find(name: &str) -> fn() {
    let planted = planted::ALL.iter().map(|fault| (fault.name, fault.program));
    let mut all = OTHERS.iter().chain(correct::ALL).copied().chain(planted);
    all.find(|(known, _)| *known == name).expect("it is listed").1
}
