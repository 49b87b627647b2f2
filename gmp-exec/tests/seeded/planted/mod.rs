//! Programs with a fault each, by what the fault is about. But for two that need random bytes alone, none
//! fails in tokio's order.

pub(crate) mod blocks;
pub(crate) mod ends;
pub(crate) mod locks;
pub(crate) mod network;
pub(crate) mod tasks;
pub(crate) mod threads;
pub(crate) mod times;

use std::future::Future;

use gmp_exec::runtime::Builder;
use gmp_exec::task::coop;

pub(crate) struct Planted {
    pub(crate) name: &'static str,
    pub(crate) program: fn(),
    /// How a run ends that finds the fault.
    pub(crate) end: &'static str,
    /// Without these kinds of decisions no seed finds the fault.
    pub(crate) needs: &'static str,
    /// With these alone, seeds do.
    pub(crate) enough: &'static str,
}

const fn planted(name: &'static str, program: fn(), end: &'static str, kinds: &'static str) -> Planted {
    Planted { name, program, end, needs: kinds, enough: kinds }
}

/// All kinds of decisions.
pub(crate) const KINDS: [&str; 11] =
    ["task", "timer", "yield", "switch", "thread", "wake", "late", "edge", "net", "block", "program"];

pub(crate) const ALL: &[Planted] = &[
    planted("aborted_between_steps", ends::aborted_between_steps, "panic", "yield"),
    planted("dropped_with_its_runtime", ends::dropped_with_its_runtime, "panic", "yield"),
    planted("two_locks", locks::two_locks, "deadlock", "yield"),
    planted("half_of_the_permits", locks::half_of_the_permits, "deadlock", "yield"),
    planted("read_twice", locks::read_twice, "deadlock", "yield"),
    planted("notified_too_early", locks::notified_too_early, "deadlock", "yield"),
    planted("lost_update", locks::lost_update, "panic", "yield"),
    planted("order_of_tasks", tasks::order_of_tasks, "panic", "task"),
    planted("order_of_senders", tasks::order_of_senders, "panic", "task"),
    planted("order_in_local_set", tasks::order_in_local_set, "panic", "task"),
    planted("order_of_ends", tasks::order_of_ends, "panic", "task"),
    planted("root_goes_first", tasks::root_goes_first, "panic", "task"),
    planted("late_listener", tasks::late_listener, "panic", "task"),
    planted("slow_receiver", tasks::slow_receiver, "panic", "task"),
    Planted { needs: "none", ..planted("same_worker", tasks::same_worker, "panic", "switch") },
    planted("update_inside_a_poll", threads::update_inside_a_poll, "panic", "edge"),
    planted("update_between_blocks", blocks::update_between_blocks, "panic", "block"),
    planted("ready_branches", tasks::ready_branches, "panic", "none"),
    planted("order_of_a_map", tasks::order_of_a_map, "panic", "none"),
    planted("same_deadline", times::same_deadline, "panic", "timer"),
    planted("exact_timer", times::exact_timer, "panic", "late"),
    planted("short_limit", times::short_limit, "panic", "late"),
    Planted { enough: "late,task", ..planted("order_of_timers", times::order_of_timers, "panic", "late") },
    planted("cut_between_steps", times::cut_between_steps, "panic", "late,yield"),
    planted("whole_message", network::whole_message, "panic", "net"),
    planted("whole_message_of_unix", network::whole_message_of_unix, "panic", "net"),
    planted("order_of_connections", network::order_of_connections, "panic", "net"),
    planted("choice", crate::network::hosts::choice, "panic", "program"),
    planted("order_of_threads", threads::order_of_threads, "panic", "thread"),
    planted("set_after_the_start", threads::set_after_the_start, "panic", "switch"),
    planted("first_waiter", threads::first_waiter, "panic", "wake"),
    planted("two_callers", threads::two_callers, "panic", "switch"),
];

pub(crate) fn on_two_workers(future: impl Future<Output = ()>) {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future);
}

pub(crate) fn on_one_thread(future: impl Future<Output = ()>) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
}

/// A check of the budget, as each lock and channel of the drop-in makes.
pub(crate) async fn check_budget() {
    coop::consume_budget().await;
}
