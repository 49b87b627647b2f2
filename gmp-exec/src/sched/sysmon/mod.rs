//! sysmon, the monitor thread: finds machines that are stuck, and looks at timers, the network and
//! waiting work while all machines are busy.
//!
//! sysmon never holds a processor. It must find a thread that sleeps in its poll within
//! microseconds, cost less than 1 %, and not wake up at all while nothing runs. So sysmon looks
//!
//! - when a submitter, or a machine that comes out of the netpoll, finds every processor busy and
//!   calls it; and soon after a look that has found something, unless too many such looks have
//!   found nothing (`budget`);
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
//! machines do wake a successor (`long_polls`). After a poll that has lasted for a regular interval
//! while a processor was idle, sysmon also looks closely for a second, that is, at shorter intervals,
//! because there may be no successor. Then it may cost more than 1 %.
//!
//! A look considers each machine inside a poll (`memory`). If something waits for the machine's
//! processor, or the poll lasts, sysmon asks the kernel what the thread does. A thread that sleeps,
//! and still does at the next look, has blocked: sysmon takes its processor. A thread that computes
//! may do so for `blocking_threshold`, and `max_hogs` limits how many go on without a processor
//! (`excess`). A thread that gets no core is not the cause of anything. Polls that go on without a
//! processor are looked at again, more and more rarely (`watch`). If nothing waits, sysmon lists
//! the processor as takeable, and the next submitter that finds no idle processor takes it. If
//! nothing has waited for long, sysmon makes the processor idle, so that it need not look at a poll
//! that may last for ever.

mod budget;
mod excess;
mod long_polls;
mod memory;
mod pace;
mod sleep;
mod stuck;
mod waiting;
mod watch;

use std::time::{Duration, Instant};

use budget::Outcome;
pub(crate) use memory::Memory;
use sleep::IDLE_LOOKS;

use crate::observe::{self, SysmonObserver};
use crate::sched::hogs::time_slice;
use crate::sched::resize::follow::Follower;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::sysmon::calls;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::sys::timer_slack::TimerSlack;

/// How long sysmon looks closely after a poll that held its thread for long: a program that does so
/// once will do so again. Close looks were measured at 3 to 4 % of a core on a server of 870
/// requests a second, a cost that other programs need not pay.
const CLOSE_FOR: Duration = Duration::from_secs(1);

impl Scheduler {
    /// A processor became busy. The caller changes `idle` before it looks whether sysmon is asleep;
    /// sysmon announces its sleep before it looks at `idle`. A SeqCst fence lies between the two on
    /// both sides.
    #[inline]
    pub(super) fn notice_busy(&self) {
        fence(SeqCst);
        if self.sysmon.asleep.load(Relaxed) {
            self.sysmon.calls.add(calls::WOKEN);
        } else if self.sysmon.is_slow.load(Relaxed) && self.idle.is_unwatched() {
            // If the tasks that run now hold their threads, only sysmon will notice.
            self.sysmon.call();
        }
    }

    /// Starts the thread of sysmon.
    pub(crate) fn start_sysmon(self: &Arc<Self>) -> std::io::Result<()> {
        let scheduler = self.clone();
        self.sysmon.running.store(true, Relaxed);
        self.sysmon.starts.open();
        let name = "gmp-sysmon".to_owned();
        self.all_machines.start(&self.config.threads, name, Machine::new(0), move || scheduler.monitor())
    }

    /// The body of the thread.
    #[doc(alias = "sysmon")]
    fn monitor(self: &Arc<Self>) {
        self.sysmon.starts.bind();
        self.sysmon.calls.bind();
        let mut memory = Memory::default();
        // Nothing has run yet.
        memory.idle_looks = IDLE_LOOKS;
        let mut is_prepared = false;
        let mut observer = SysmonObserver::new(self.config.debug.trace);
        let mut follower = Follower::new(self.config.follow);
        loop {
            let next = observer.limit(self.next_sleep(&mut memory, Instant::now()));
            let reasons = self.sleep(&mut memory, next);
            if reasons & calls::STOPPED != 0 {
                self.start_all(self.sysmon.starts.close());
                return self.take_from_stragglers();
            }
            if !is_prepared {
                // Not before something has run: many runtimes of tests end before that.
                is_prepared = true;
                TimerSlack::LEAST.set();
                time_slice::shorten_for_sysmon(self);
            }
            if reasons & calls::START != 0 {
                self.start_all(self.sysmon.starts.take());
                self.retake_for_visible_work();
            }
            follower.follow_if_due(self);
            observer.print_if_due(self);
            // After a sleep without a limit there is nothing to look at yet.
            if self.config.sysmon && next.is_some() {
                memory.was_called = reasons & calls::CALLED != 0 || memory.calls_itself;
                self.look(&mut memory, Instant::now());
            }
        }
    }

    fn start_all(self: &Arc<Self>, machines: Vec<Arc<Machine>>) {
        machines.iter().for_each(|machine| self.start_here(machine));
    }

    /// One look at everything. Visible in the crate for the models, which have no clock.
    pub(crate) fn look(self: &Arc<Self>, memory: &mut Memory, now: Instant) {
        self.takeable.prune();
        memory.update(self, self.regular_pace() * 2, now);
        memory.is_anything_waiting = self.is_anything_waiting();
        self.look_at_absent(&mut memory.absent, now);
        self.count_computing();
        let found = self.take_from_stuck(memory, now);
        self.grant_one_extra(memory, found.refused.as_ref());
        self.ask_for_looks(memory, now);
        self.wake_for_unwatched_work(memory, now);
        self.expect_long_polls(memory, now);
        self.slow_down(memory);
        let outcome = Outcome {
            was_called: std::mem::take(&mut memory.was_called),
            has_found: found.has_blocked,
            has_sleeping: found.has_sleeping,
            is_needed: self.is_anything_waiting(),
            cost: found.cost,
        };
        memory.budget.account(outcome, now);
        observe::on_look(self);
    }
}

/// sysmon's sleep without its thread, for a model.
#[cfg(all(test, loom))]
impl Scheduler {
    /// Sleeps without a limit, unless something has begun to wait: sysmon would then look at once.
    pub(super) fn sleep_until_called(&self) {
        self.sysmon.calls.bind();
        let forever = Some(Duration::MAX);
        if self.listen(&mut Memory::default(), forever) == forever {
            assert_eq!(self.sysmon.calls.wait(None), calls::CALLED);
        }
    }
}
