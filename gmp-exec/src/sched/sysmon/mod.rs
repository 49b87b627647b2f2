//! sysmon, the monitor thread: finds machines that are stuck, and looks at timers, the network and
//! waiting work while all machines are busy.
//!
//! sysmon never holds a processor. It must find a thread that sleeps in its poll within
//! microseconds, cost less than 1 %, and not wake up at all while nothing runs. So sysmon looks
//!
//! - when a submitter, or a machine that comes out of the netpoll, finds every processor busy and
//!   calls it; and soon after a look that has found something, unless too many such looks have
//!   found nothing (`pace`);
//! - when a timer comes due while every processor is busy, if the polls there sleep, or are likely
//!   to because sysmon has just found others asleep. No submitter calls for a timer;
//! - at a regular pace while processors are busy: after a quarter of the threshold, or 2.5 ms. The
//!   pace slows down to one look in 15 ms while nothing waits, a processor is idle and no poll
//!   lasts;
//! - not at all while all processors are idle: the first machine that makes one busy wakes sysmon.
//!
//! Rejected: Go's steps from 20 µs to 10 ms (6 to 12 % of a core in one report, golang/go #18236),
//! and a clock reading at every poll (17 ns each).
//!
//! A machine that leaves the netpoll with a single task wakes no other machine to sleep there
//! instead, because that would be two thread switches per event. If that task holds its thread, no
//! machine sleeps in the netpoll until sysmon's second look. So for a second after a long poll
//! machines do wake a successor. After a poll that was long while a processor was idle, sysmon also
//! looks closely, that is, at shorter intervals, because there may be no successor (`long_polls`).
//! Then it may cost more than 1 %.
//!
//! A look considers each machine inside a poll (`seen`). If something waits for the machine's
//! processor, or the poll lasts, sysmon asks the kernel what the thread does. A thread that sleeps,
//! and still does at the next look, has blocked: sysmon takes its processor. A thread that computes
//! may do so for `blocking_threshold`, and `max_hogs` limits how many go on without a processor
//! (`stuck`). A thread that gets no core is not the cause of anything. If nothing waits, a poll
//! keeps its processor for a while. Then sysmon makes the processor idle, so
//! that it need not look at a poll that may last for ever.
//!
//! On a current-thread runtime that is watched (`Config::is_watched`), sysmon takes nothing and only
//! tells `blocked` what it has seen.

mod long_polls;
mod pace;
mod seen;
mod sleep;
mod stuck;

use std::time::Instant;

use pace::regular;
pub(crate) use seen::Memory;

use crate::observe::{self, SysmonObserver};
use crate::sched::hogs::time_slice;
use crate::sched::resize::Follower;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::take_from_stragglers;
use crate::sched::state::machine::Machine;
use crate::sched::state::sysmon::calls;
use crate::sched::submit::wake::start_here;
use crate::sync::Arc;
use crate::sys::timer_slack::TimerSlack;

/// Starts the thread of sysmon.
pub(crate) fn start(scheduler: &Arc<Scheduler>) -> std::io::Result<()> {
    scheduler.sysmon.starts.open();
    let (name, owned) = ("gmp-sysmon".to_owned(), scheduler.clone());
    scheduler.all_machines.start(&scheduler.config.threads, name, Machine::new(0), move || monitor(&owned))
}

/// The body of the thread.
#[doc(alias = "sysmon")]
fn monitor(scheduler: &Arc<Scheduler>) {
    scheduler.sysmon.starts.bind();
    scheduler.sysmon.calls.bind();
    let mut memory = Memory::default();
    let mut is_prepared = false;
    let mut observer = SysmonObserver::new(scheduler.config.debug.trace);
    let mut follower = Follower::new(scheduler.config.follow);
    loop {
        let next = observer.limit(sleep::next_sleep(scheduler, &mut memory));
        let reasons = sleep::sleep(scheduler, &mut memory, next);
        let is_over = reasons & calls::STOPPED != 0;
        if !is_prepared && !is_over {
            // Not before something has run: many runtimes of tests end before that.
            is_prepared = true;
            TimerSlack::LEAST.set();
            time_slice::shorten_for_sysmon(scheduler);
        }
        let starts = &scheduler.sysmon.starts;
        let machines = if is_over { starts.close() } else { starts.take() };
        machines.iter().for_each(|machine| start_here(scheduler, machine));
        if is_over {
            return take_from_stragglers(scheduler);
        }
        follower.follow_if_due(scheduler);
        observer.print_if_due(scheduler);
        if scheduler.config.sysmon || scheduler.config.is_watched {
            memory.was_called |= reasons & calls::CALLED != 0;
            look(scheduler, &mut memory, Instant::now());
        }
    }
}

/// One look at everything. Visible in the crate for the models, which have no clock.
pub(crate) fn look(scheduler: &Arc<Scheduler>, memory: &mut Memory, now: Instant) {
    memory.update(scheduler, regular(scheduler.config.blocking_threshold, false) * 2, now);
    memory.is_anything_waiting = sleep::is_anything_waiting(scheduler);
    let (outcome, refused) = stuck::take_all(scheduler, memory, now);
    if !scheduler.config.is_watched {
        // Processors look at timers, the network and the global queue after a number of turns. Turns may
        // be long, and a timer may be that of a processor without a machine, or with a stuck one.
        memory.seen.iter().for_each(|seen| scheduler.processors[seen.sighting.processor].ask_for_look());
        stuck::let_in(scheduler, memory, refused.as_ref(), now);
        sleep::wake_for_unwatched_work(scheduler, memory, now);
        memory.long_polls.expect(scheduler, now);
    }
    sleep::account(scheduler, memory, outcome, now);
    observe::on_look(scheduler);
}

/// sysmon's sleeps without its thread, for models.
#[cfg(all(test, loom))]
pub(super) mod model {
    use std::time::Duration;

    use super::*;

    /// Sleeps without a limit, unless something has begun to wait: sysmon would then look at once.
    pub(in crate::sched) fn sleep_until_called(scheduler: &Scheduler) {
        scheduler.sysmon.calls.bind();
        let forever = Some(Duration::MAX);
        if sleep::listen(scheduler, &mut Memory::default(), forever) == forever {
            assert_eq!(scheduler.sysmon.calls.wait(None), calls::CALLED);
        }
    }

    /// Sleeps deeply until a processor is busy.
    pub(in crate::sched) fn sleep_until_busy(scheduler: &Scheduler) {
        scheduler.sysmon.calls.bind();
        let mut memory = Memory::default();
        if sleep::next_sleep(scheduler, &mut memory).is_none() {
            assert_eq!(scheduler.sysmon.calls.wait(None), calls::WOKEN);
        }
    }
}
