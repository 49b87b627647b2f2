//! Runtimes with random settings, how they end, and what a program may do on them.

use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime};

use crate::support::{Random, current, multi};

/// The operations that a program may use on its runtime without a deadlock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    /// Whether a task can hand off its processor in a section.
    pub(super) has_block_in_place: bool,
    /// Whether there are enough threads for all tasks that wait for another task in a section.
    pub(super) may_wait_in_sections: bool,
    /// The same for closures.
    pub(super) may_wait_in_closures: bool,
    /// The same for polls, from which only sysmon takes the processor.
    pub(super) may_wait_in_polls: bool,
    /// Whether no thread that polls inherits from a thread that a closure has changed.
    pub(super) keeps_threads: bool,
    /// Whether closures have threads of their own, which they may change.
    pub(super) may_change_threads: bool,
    /// Whether the timers last as long as the tasks.
    pub(super) has_timers: bool,
    /// Whether tasks can be spawned that never leave the thread.
    pub(super) is_local: bool,
}

impl Means {
    pub(super) fn of_local_tasks() -> Means {
        Means {
            has_block_in_place: false,
            may_wait_in_sections: false,
            may_wait_in_closures: false,
            may_wait_in_polls: false,
            keeps_threads: true,
            may_change_threads: true,
            has_timers: true,
            is_local: true,
        }
    }
}

pub(super) fn random_builder(random: &mut Random) -> (Builder, Means) {
    if random.below(6) > 0 { random_multi(random) } else { random_current(random) }
}

fn random_current(random: &mut Random) -> (Builder, Means) {
    let mut builder = current();
    set_limits(&mut builder, random);
    builder.sysmon(random.below(4) > 0);
    let means = Means {
        may_wait_in_closures: true,
        // A thread inside of `block_on` polls, and a closure may call that.
        keeps_threads: false,
        is_local: false,
        ..Means::of_local_tasks()
    };
    (builder, means)
}

pub(super) fn random_multi(random: &mut Random) -> (Builder, Means) {
    let (has_sysmon, is_roomy) = (random.below(4) > 0, random.below(2) == 0);
    let closures_in_place = random.below(4) == 0;
    let mut builder = multi(1 + random.below(3) as usize);
    set_limits(&mut builder, random);
    let machines = if is_roomy { 1_000 } else { 1 + random.below(4) as usize };
    builder.max_machines(machines).sysmon(has_sysmon).closures_in_place(closures_in_place);
    let means = Means {
        has_block_in_place: true,
        may_wait_in_sections: is_roomy,
        may_wait_in_closures: is_roomy,
        may_wait_in_polls: is_roomy && has_sysmon,
        keeps_threads: has_sysmon,
        may_change_threads: !closures_in_place,
        has_timers: true,
        is_local: false,
    };
    (builder, means)
}

fn set_limits(builder: &mut Builder, random: &mut Random) {
    builder
        .max_hogs(1 + random.below(3) as usize)
        .max_blocking_threads(1 + random.below(3) as usize)
        .blocking_threshold(Duration::from_micros(100 + random.below(901)))
        .thread_keep_alive(Duration::from_micros(random.below(3_001)));
    if random.below(4) == 0 {
        builder.disable_lifo_slot();
    }
    if random.below(4) == 0 {
        builder.global_queue_interval(1 + random.below(8) as u32).event_interval(1 + random.below(8) as u32);
    }
    if random.below(4) == 0 {
        builder.enable_metrics_poll_time_histogram().enable_metrics_schedule_latency_histogram();
    }
}

/// Far more processors than cores, and a threshold so short that processors are taken all the time.
pub(super) fn crowded() -> (Builder, Means) {
    let mut builder = multi(64);
    builder.blocking_threshold(Duration::from_micros(200));
    let means = Means {
        has_block_in_place: true,
        may_wait_in_sections: true,
        may_wait_in_closures: true,
        may_wait_in_polls: true,
        may_change_threads: true,
        is_local: false,
        ..Means::of_local_tasks()
    };
    (builder, means)
}

pub(super) fn end(runtime: Runtime, random: &mut Random) {
    match random.below(4) {
        0 | 1 => drop(runtime),
        2 => runtime.shutdown_timeout(Duration::from_micros(random.below(2_000))),
        _ => runtime.shutdown_background(),
    }
}
