//! Polls that compute beyond `max_hogs`: one more every few milliseconds.
//!
//! `max_hogs` keeps a crowd of computing threads from taking each other's cores. As a strict limit
//! it would stop everything:
//!
//! - Once all permits are held, a processor stays with its machine while that computes. As many
//!   long polls as there are permits and processors stop timers, the network and all other tasks.
//! - The short poll of a known hog waits for polls of several seconds.
//! - Hogs that sleep until a waiting hog has run wait for it without end.
//!
//! So while a processor is refused, or a task waits for a permit, sysmon lets one more of each compute
//! after a while. The more polls compute beyond the limit, the longer sysmon waits: a crowd of
//! polls of 20 ms stays near `max_hogs`, because as many end as are let in, and a few polls of
//! several seconds do not stop anything for much longer than the `blocking_threshold`.
//!
//! Rejected: no extra permits: a poll that computed was never let in; lower kernel priorities (they
//! can't be raised again, and a hog may hold a lock).

use std::time::Instant;

use crate::sched::handoff::take::take;
use crate::sched::hogs;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::stuck::Stuck;
use crate::sched::sysmon::memory::Memory;
use crate::sync::Arc;

/// How long sysmon waits between two extra polls, in sixths of the threshold, by how many there are
/// already. All polls that compute share the cores, so the first extra poll ends late, and until
/// then sysmon would let in more and more. If all processors are held up, this is also how long
/// other tasks wait for a processor, so the first waits are short.
const WAITS: [u32; 8] = [2, 5, 9, 12, 18, 24, 30, 36];

/// Lets one more hog that waits compute, and one more poll go on without a processor, if it is time.
/// `refused`: a poll whose processor may not be taken yet.
pub(super) fn let_in(scheduler: &Arc<Scheduler>, memory: &mut Memory, refused: Option<&Stuck>, now: Instant) {
    if refused.is_none() && scheduler.hogs.waiting() == 0 {
        memory.let_in = None;
        return;
    }
    let since = *memory.let_in.get_or_insert(now);
    let unit = (scheduler.idle.active() / 2).max(1);
    let wait = scheduler.config.blocking_threshold * WAITS[(scheduler.hogs.excess() / unit).min(WAITS.len() - 1)] / 6;
    if now.duration_since(since) >= wait {
        memory.let_in = Some(now);
        hogs::grant_extra(scheduler);
        if refused.is_some_and(|stuck| take(scheduler, stuck)) {
            memory.long_polls.taken = Some(now);
        }
    }
}
