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

mod beyond_limit;
mod budget;
mod excess;
mod long_polls;
mod memory;
mod pace;
mod watch;

use std::time::{Duration, Instant};

use budget::Outcome;
pub(crate) use memory::Memory;
use memory::{Standard, Verdict};
use pace::{Facts, stall_limit};

use crate::sched::handoff::take::TakeOutcome;
use crate::sched::hogs::time_slice;
use crate::sched::resize::follow::Follower;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::sysmon::calls;
use crate::sched::state::takeable::Note;
use crate::sched::sysmon::memory::QUESTIONS;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::sys::timer_slack::TimerSlack;
use crate::task::StuckBy;

/// A timer that is so late belongs to a processor whose own machine does not look at it.
const OVERDUE: Duration = Duration::from_millis(1);
/// How long sysmon looks closely after a poll that held its thread for long: a program that does so
/// once will do so again. Close looks were measured at 3 to 4 % of a core on a server of 870
/// requests a second, a cost that other programs need not pay.
const CLOSE_FOR: Duration = Duration::from_secs(1);
/// After this many looks between which no processor had a turn, sysmon sleeps until a machine wakes
/// it. So a program that pauses often does not pay a wake-up per pause.
const IDLE_LOOKS: u32 = 3;
/// A poll that nothing waits for keeps its processor for so many thresholds. As long as it does,
/// sysmon looks at it, and after that nothing is left to look at.
const KEPT_FOR: u32 = 10;

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
        let mut trace = crate::trace::schedtrace::Schedtrace::new(self.config.debug.trace);
        let mut follower = Follower::new(self.config.follow);
        loop {
            let next = trace.limit(self.next_sleep(&mut memory, Instant::now()));
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
            trace.print_if_due(self);
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

    /// A submitter has found no listed processor before, or no machine for one.
    fn retake_for_visible_work(self: &Arc<Self>) {
        fence(SeqCst);
        if self.has_visible_work() && !self.idle.should_wake() {
            self.retake_listed();
        }
    }

    /// Sleeps for `limit` (`None`: until a call). Returns the reasons of the calls.
    fn sleep(&self, memory: &mut Memory, limit: Option<Duration>) -> u8 {
        let sysmon = &self.sysmon;
        let at = limit.map_or(u64::MAX, |limit| (sysmon.epoch.elapsed() + limit).as_nanos() as u64);
        sysmon.next_look.store(at, Release);
        sysmon.is_slow.store(limit.is_some_and(|limit| limit > self.regular_pace()), Relaxed);
        let limit = self.listen(memory, self.until_announced(limit));
        let reasons = sysmon.calls.wait(limit);
        sysmon.listening.store(false, Relaxed);
        sysmon.asleep.store(false, Relaxed);
        reasons
    }

    /// Lets submitters call, if there is budget left. No submitter has called for work that was
    /// published before, so sysmon looks for that itself, as if one had.
    fn listen(&self, memory: &mut Memory, limit: Option<Duration>) -> Option<Duration> {
        if !self.config.sysmon || limit.is_none() || !memory.budget.is_left() {
            return limit;
        }
        self.sysmon.listening.store(true, Relaxed);
        fence(SeqCst);
        if memory.is_anything_waiting || !self.is_anything_waiting() {
            return limit;
        }
        memory.calls_itself = true;
        limit.map(|limit| limit.min(memory.budget.first_step()))
    }

    /// How long to sleep; `None`: until a processor becomes busy.
    fn next_sleep(&self, memory: &mut Memory, now: Instant) -> Option<Duration> {
        let until_timer = self.until_unserved_timer(memory, now);
        let pace = self.pace(memory, now);
        memory.calls_itself = until_timer < pace;
        let pace = pace.min(until_timer);
        if self.idle.any_busy() {
            memory.idle_looks = 0;
            return Some(pace);
        }
        memory.idle_looks = if memory.have_turns_passed(&self.processors) { 0 } else { memory.idle_looks + 1 };
        if memory.idle_looks < IDLE_LOOKS || self.has_visible_work() || self.is_unattended() {
            return Some(pace);
        }
        self.sysmon.asleep.store(true, Relaxed);
        fence(SeqCst);
        // Busy processors first: a machine holds a processor until its hog waits for a permit, so
        // one of the two checks sees it.
        if self.idle.any_busy() || self.hogs.waiting() > 0 {
            self.sysmon.asleep.store(false, Relaxed);
            return Some(pace);
        }
        memory.forget();
        memory.idle_looks = 0;
        None
    }

    /// How soon to look because of what was seen.
    fn pace(&self, memory: &Memory, now: Instant) -> Duration {
        let are_all_held = memory.is_anything_waiting && memory.count_held(Duration::ZERO) >= self.idle.unretired();
        pace::pace(Facts {
            threshold: self.config.blocking_threshold,
            step: memory.budget.step(),
            has_new_section: memory.has_new_section(now),
            is_close: memory.close_until.is_some_and(|until| now < until),
            slow: memory.slow_pace,
            all_held: are_all_held.then(|| memory.shortest_held()),
        })
    }

    /// When a timer comes due that perhaps no machine serves: every processor is busy, and its poll
    /// is known to sleep, or is likely to. A timer that is due already waits as any other work
    /// does.
    fn until_unserved_timer(&self, memory: &Memory, now: Instant) -> Duration {
        let may_sleep = memory.budget.expects_another(now) || self.takeable.is_any() && memory.budget.is_left();
        if !may_sleep || !self.idle.are_all_busy() || self.idle.has_sleeper() {
            return Duration::MAX;
        }
        match self.earliest_timer().checked_sub(self.clock.now_ns()) {
            None | Some(0) => Duration::MAX,
            Some(until) => Duration::from_nanos(until).max(memory.budget.first_step()),
        }
    }

    /// How soon to look while a processor is busy and nothing was seen.
    fn regular_pace(&self) -> Duration {
        pace::regular(self.config.blocking_threshold)
    }

    /// `look_soon` may have come between the store of `next_look` and the sleep. Its call is kept,
    /// so this only makes sure that sysmon does not sleep longer than `next_look` says.
    fn until_announced(&self, next: Option<Duration>) -> Option<Duration> {
        let at = self.sysmon.next_look.load(Acquire);
        if at == u64::MAX {
            return next;
        }
        Some(Duration::from_nanos(at).saturating_sub(self.sysmon.epoch.elapsed()))
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
            has_suspect: found.has_suspect,
            is_needed: self.is_anything_waiting(),
            cost: found.cost,
        };
        memory.budget.account(outcome, now);
        self.start_report_thread_if_wanted();
    }

    /// Takes the processors of machines that are stuck. If timers, the network or new tasks wait,
    /// and no processor has had a turn for a part of the threshold, a machine that computes loses
    /// its processor after that part. One is enough for all that waits.
    #[doc(alias = "retake")]
    fn take_from_stuck(self: &Arc<Self>, memory: &mut Memory, now: Instant) -> Found {
        let threshold = self.config.blocking_threshold;
        let any_is_needed = self.is_waited_for_by_all();
        let mut standard = Standard { threshold, questions: QUESTIONS };
        if any_is_needed && memory.count_held(stall_limit(threshold)) >= self.idle.unretired() {
            standard.threshold = stall_limit(threshold);
        }
        let mut found = Found::default();
        memory.rotate();
        for seen in &mut memory.seen {
            let began = Instant::now();
            let is_waited_for = any_is_needed || self.processors[seen.sighting.processor].has_work();
            let verdict = seen.judge(is_waited_for, &mut standard);
            found.cost += began.elapsed();
            found.has_suspect |= verdict == Verdict::Suspect;
            let lasted = now.duration_since(seen.since);
            if lasted >= threshold
                && let Some(cause) = seen.cause_to_record(&verdict, threshold)
            {
                self.record_long(&seen.machine, seen.sighting, seen.since, cause);
            }
            let Verdict::Stuck(cause) = verdict else { continue };
            self.longest_poll.raise_to(lasted.as_nanos() as u64);
            let held = seen.held;
            let note = Note { machine: seen.machine.clone(), seen: seen.sighting, cause, since: seen.since };
            match self.take_or_list(&note, is_waited_for, held) {
                TakeOutcome::Done if cause == StuckBy::Blocking => found.has_blocked = true,
                TakeOutcome::Done => standard.threshold = threshold,
                TakeOutcome::Refused => {
                    note.machine.ownership.mark(note.seen.turn());
                    found.refused = found.refused.or(Some(note));
                }
                _ => {}
            }
        }
        found
    }

    /// Takes the processor of a stuck machine if something waits for it. Otherwise a section loses
    /// it to the idle list, and a poll keeps it for a while, listed as takeable.
    fn take_or_list(self: &Arc<Self>, note: &Note, is_waited_for: bool, held: Duration) -> TakeOutcome {
        if is_waited_for {
            return self.retake(note);
        }
        if note.seen.region.is_blocking() || held > self.config.blocking_threshold * KEPT_FOR {
            return self.stop_watching(note);
        }
        self.list(note);
        TakeOutcome::Stale
    }

    fn list(self: &Arc<Self>, note: &Note) {
        self.takeable.add(note.clone());
        self.retake_for_visible_work();
    }

    /// The poll or section may last for hours, and may be the only thing that sysmon looks at.
    fn stop_watching(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        match self.take_to_idle(note) {
            TakeOutcome::Refused => {
                self.list(note);
                // A task that waits for a permit needs it more.
                if self.hogs.waiting() > 0 { TakeOutcome::Stale } else { TakeOutcome::Refused }
            }
            TakeOutcome::NoMachine if note.seen.region == Region::Poll => {
                self.list(note);
                TakeOutcome::Stale
            }
            _ => TakeOutcome::Stale,
        }
    }

    /// Whether something waits while every processor is busy.
    fn is_anything_waiting(&self) -> bool {
        self.idle.are_all_busy()
            && (!self.global.is_empty()
                || self.earliest_timer() <= self.clock.now_ns()
                || self.processors.iter().any(|processor| processor.has_work()))
    }

    /// Whether something waits that any processor could serve, and none is idle.
    fn is_waited_for_by_all(&self) -> bool {
        !self.idle.has_idle()
            && (self.has_visible_work()
                || self.earliest_timer() <= self.clock.now_ns()
                || (!self.idle.has_sleeper() && self.netpoll_gate.netpoll().is_some()))
    }

    /// Processors look at timers, the network and the global queue after a number of turns. Where
    /// so many turns take longer than the regular interval, sysmon asks for a look now. It also
    /// asks if a timer is overdue: that of a processor without a machine, or with a stuck one,
    /// would otherwise wait until a busy processor's looks have come round to that processor.
    fn ask_for_looks(&self, memory: &mut Memory, now: Instant) {
        if memory.asked.is_some_and(|at| now.duration_since(at) < self.regular_pace()) {
            return;
        }
        memory.asked = Some(now);
        memory.turns.resize(self.processors.len(), 0);
        let is_timer_overdue = self.earliest_timer().saturating_add(OVERDUE.as_nanos() as u64) <= self.clock.now_ns();
        for seen in &memory.seen {
            let processor = &self.processors[seen.sighting.processor];
            let before = std::mem::replace(&mut memory.turns[seen.sighting.processor], processor.ticks());
            if is_timer_overdue || processor.ticks().wrapping_sub(before) < self.config.event_interval {
                processor.ask_for_look();
            }
        }
    }

    /// Lets looks become rarer while a processor is idle, nothing waits for long and no poll lasts.
    fn slow_down(&self, memory: &mut Memory) {
        let is_quiet = self.idle.has_idle() && !memory.is_any_stuck() && self.hogs.waiting() == 0;
        let threshold = self.config.blocking_threshold;
        memory.slow_pace = if is_quiet { pace::slower(memory.slow_pace, threshold) } else { Duration::ZERO };
    }

    /// Wakes a machine if work waits although a processor is idle: a thread could not be started,
    /// or no machine sleeps in the netpoll while the last one that did is stuck. The machine looks
    /// for work and then sleeps in the netpoll.
    fn wake_for_unwatched_work(self: &Arc<Self>, memory: &mut Memory, now: Instant) {
        if !self.idle.should_wake() {
            return;
        }
        if self.netpoll_gate.netpoll().is_some() && memory.has_poll_of(self.regular_pace()..CLOSE_FOR, now) {
            memory.close_until = Some(now + CLOSE_FOR);
            memory.long_poll = Some(now);
        }
        let unwatched = memory.is_any_stuck() && !self.idle.has_sleeper();
        let timers_due = self.earliest_timer() <= self.clock.now_ns();
        if unwatched || timers_due || self.has_visible_work() || self.is_unattended() {
            self.wake_one();
        }
    }

    /// Whether something waits and no machine is idle to serve it. If a processor is idle at the
    /// same time, a thread could not be started for it, and only sysmon will try again. `runnext`
    /// counts: on an idle processor it has no owner that would run it.
    fn is_unattended(&self) -> bool {
        let waits = !self.global.is_empty()
            || self.processors.iter().any(|processor| processor.has_work())
            || self.earliest_timer() != u64::MAX;
        waits && self.idle.snapshot().spares == 0
    }
}

/// The findings of a look.
#[derive(Debug, Default)]
struct Found {
    /// A processor was taken from a thread that sleeps.
    has_blocked: bool,
    /// A thread sleeps, perhaps only for a moment.
    has_suspect: bool,
    /// A poll that computes and whose processor may not be taken yet.
    refused: Option<Note>,
    /// The time that judging took, without the takes.
    cost: Duration,
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
