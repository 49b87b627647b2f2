//! The monitor: finds machines that are stuck, and whatever else nobody looks at while everybody is busy.
//!
//! A thread that never holds a processor. It must find a stuck poll soon, cost less than 1 %, and not wake up at all
//! while nothing runs. So it sleeps until the earliest moment at which there can be something to do (a quarter of the
//! threshold, or 2.5 ms, while a processor is busy; at once if a machine says that it begins a blocking section while work
//! waits), and deeply when all processors are idle; the first one that becomes busy wakes it. Rejected: Go's ladder of 20 µs
//! to 10 ms (6 to 12 % of a core in one report, golang/go #18236), and a clock reading at every poll (17 ns each).
//!
//! A machine that leaves the poller with a single task wakes nobody to sit there instead, because that would be two thread
//! switches per event. If that task holds on to its thread, the network is watched by nobody until the second look. So for a
//! second after a poll that has lasted for a regular interval, while a processor is idle, sysmon is alert and looks at shorter
//! ones; then it may cost more than 1 %.
//!
//! A look, per machine inside a poll: the same poll as at the last look? Then its CPU clock tells whether the thread
//! sleeps in the kernel or computes; after `blocking_threshold` its processor is taken if something waits for it, and
//! noted as overdue if not. Machines that compute without a processor are looked at apart (`sleepers`).

mod memory;
mod sleepers;

use super::machine::Machine;
use super::overdue::Note;
use super::scheduler::Scheduler;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering::*, fence};
use crate::sync::{Arc, Condvar, Mutex};
use crate::task::Offence;
use std::time::{Duration, Instant};

pub(crate) use memory::Memory;
use memory::Verdict;

/// Looks per threshold: a stuck poll is found at most this fraction of the threshold late.
const LOOKS: u32 = 4;
/// Never look more often than this, whatever the threshold.
const SHORTEST: Duration = Duration::from_micros(50);
/// Nor less often because polls may be long: what begins to wait for a section's processor after the section has begun is found
/// by a look. Only who sets the threshold to more than 2.5 s gets fewer of them, `RARE` per threshold.
const LONGEST: Duration = Duration::from_micros(2_500);
const RARE: u32 = 1_000;
/// How soon to look when a blocking section began while work waits, and while a section has a processor.
const HURRY: Duration = Duration::from_micros(100);
/// A section that still has its processor after that keeps it because no machine is to be had for it.
const HURRY_FOR: Duration = Duration::from_millis(10);
/// How soon to look while alert.
const ALERT: Duration = Duration::from_micros(500);
/// How long a poll that held its thread for long keeps sysmon alert: a program that does it will do it again. Looking like
/// that was measured at 3 to 4 % of a core on a server of 870 requests a second, which others need not pay.
const ALERT_FOR: Duration = Duration::from_secs(1);
/// Looks without a busy processor before the deep sleep, so that a program that pauses often does not pay a wake-up per
/// pause.
const PATIENCE: u32 = 3;

#[derive(Debug)]
pub(crate) struct Sysmon {
    /// In the deep sleep: somebody has to call.
    asleep: AtomicBool,
    /// There is a monitor thread.
    running: AtomicBool,
    /// When the next look is due, in nanoseconds since `epoch`.
    next_look: AtomicU64,
    epoch: Instant,
    call: Mutex<Call>,
    called: Condvar,
}

#[derive(Debug, Default)]
struct Call {
    wake: bool,
    stop: bool,
}

impl Sysmon {
    pub(crate) fn new() -> Sysmon {
        Sysmon {
            asleep: AtomicBool::new(false),
            running: AtomicBool::new(false),
            next_look: AtomicU64::new(0),
            epoch: Instant::now(),
            call: Mutex::new(Call::default()),
            called: Condvar::new(),
        }
    }

    /// A processor became busy. The caller's change of `idle` comes before this look, the monitor's announcement before
    /// its look at `idle`, with a SeqCst fence between on both sides.
    #[inline]
    pub(crate) fn notice_busy(&self) {
        fence(SeqCst);
        if self.asleep.load(Relaxed) {
            self.wake();
        }
    }

    /// Something waits while a blocking section holds a processor: look soon.
    pub(crate) fn hurry(&self) {
        if !self.running.load(Relaxed) {
            return;
        }
        let soon = (self.epoch.elapsed() + HURRY).as_nanos() as u64;
        if self.next_look.load(Relaxed) > soon && self.next_look.swap(soon, AcqRel) > soon {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.call.lock().wake = true;
        self.called.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.call.lock().stop = true;
        self.called.notify_one();
    }

    /// Sleeps for `limit`, or until somebody calls. `false`: stop.
    fn sleep(&self, limit: Option<Duration>) -> bool {
        let mut call = self.call.lock();
        if !call.wake && !call.stop {
            call = match limit {
                None => self.called.wait(call),
                Some(limit) => self.called.wait_timeout(call, limit).0,
            };
        }
        call.wake = false;
        !call.stop
    }
}

impl Scheduler {
    /// The monitor's thread.
    pub(crate) fn start_sysmon(self: &Arc<Self>) -> std::io::Result<()> {
        let scheduler = self.clone();
        self.sysmon.running.store(true, Relaxed);
        let name = "gmp-sysmon".to_owned();
        self.roster.start(&self.config.threads, name, Machine::new(0), move || scheduler.monitor())
    }

    fn monitor(self: &Arc<Self>) {
        crate::sys::timer_slack::minimise();
        let mut memory = Memory::default();
        let mut trace = crate::trace::schedtrace::Schedtrace::new(self.config.schedtrace);
        loop {
            let next = self.next_sleep(&mut memory, Instant::now());
            let next = trace.limit(next);
            let at = next.map_or(u64::MAX, |next| (self.sysmon.epoch.elapsed() + next).as_nanos() as u64);
            self.sysmon.next_look.store(at, Release);
            let go_on = self.sysmon.sleep(self.hurried(next));
            self.sysmon.asleep.store(false, Relaxed);
            if !go_on {
                return self.see_off();
            }
            trace.print_if_due(self);
            if self.config.sysmon {
                self.look(&mut memory, Instant::now());
            }
        }
    }

    /// How long to sleep; `None`: until a processor becomes busy.
    fn next_sleep(&self, memory: &mut Memory, now: Instant) -> Option<Duration> {
        let processors = self.processors.len();
        let pace = self.regular_pace().min(memory.pace(now));
        if self.idle.any_busy(processors) {
            memory.idle_looks = 0;
            return Some(pace);
        }
        memory.idle_looks += 1;
        if memory.idle_looks < PATIENCE || self.has_visible_work() || self.is_unattended() {
            return Some(pace);
        }
        self.sysmon.asleep.store(true, Relaxed);
        fence(SeqCst);
        // In this order: who gets in line is busy before, and until then.
        if self.idle.any_busy(processors) || self.hogs.waiting() > 0 {
            self.sysmon.asleep.store(false, Relaxed);
            return Some(pace);
        }
        // What is seen after it is not what was seen before.
        memory.seen.clear();
        memory.holders.clear();
        None
    }

    /// How soon to look while a processor is busy and nothing was seen.
    fn regular_pace(&self) -> Duration {
        let threshold = self.config.blocking_threshold;
        (threshold / LOOKS).min(LONGEST.max(threshold / RARE)).max(SHORTEST)
    }

    /// `hurry` may have come between the store of `next_look` and the sleep; its call is kept, so this is only about
    /// not sleeping longer than `next_look` says.
    fn hurried(&self, next: Option<Duration>) -> Option<Duration> {
        let at = self.sysmon.next_look.load(Acquire);
        if at == u64::MAX {
            return next;
        }
        Some(Duration::from_nanos(at).saturating_sub(self.sysmon.epoch.elapsed()))
    }

    /// One look at everything. Public to the crate for the models, which have no clock.
    pub(crate) fn look(self: &Arc<Self>, memory: &mut Memory, now: Instant) {
        self.overdue.prune();
        memory.update(self, now);
        let mut is_place_wanted = self.hogs.waiting() > 0;
        for index in 0..memory.seen.len() {
            let verdict = memory.seen[index].judge(self, now);
            is_place_wanted |= verdict == Verdict::Stuck(Offence::Burning);
            if let Verdict::Stuck(offence) = verdict {
                let seen = &memory.seen[index];
                let note = Note { machine: seen.machine.clone(), seen: seen.sighting, offence };
                self.relieve(note, now.duration_since(seen.since));
            }
        }
        self.look_at_places(memory, is_place_wanted, now);
        self.restaff(memory, now);
    }

    /// Takes the processor of a stuck machine, or notes that it may be taken by whoever needs it.
    fn relieve(self: &Arc<Self>, note: Note, stuck_for: Duration) {
        self.outside.longest_poll.raise_to(stuck_for.as_nanos() as u64);
        if self.is_waited_for(note.seen.processor) {
            let _ = self.retake(&note);
            return;
        }
        if note.seen.region.is_blocking() {
            // It may last for hours, and be all that there is.
            return self.set_aside(&note);
        }
        self.overdue.add(note);
        fence(SeqCst);
        if self.has_visible_work() && !self.idle.should_wake() {
            self.take_overdue();
        }
    }

    /// Whether something waits that only this processor, or nobody else, will get to.
    fn is_waited_for(&self, processor: usize) -> bool {
        let processor = &self.processors[processor];
        processor.has_work()
            || (!self.idle.has_idle() && self.has_visible_work())
            || (!self.idle.has_idle() && self.earliest_timer() <= self.clock.now_ns())
            || (!self.idle.has_idle() && !self.idle.has_poller() && self.poller.netpoll().is_some())
    }

    /// Work waits although a processor is idle: a thread could not be started, or the poller's seat is empty while its
    /// last holder is stuck. Wakes a machine, which looks and then sits down in the poller.
    fn restaff(self: &Arc<Self>, memory: &mut Memory, now: Instant) {
        if !self.idle.should_wake() {
            return;
        }
        if self.poller.netpoll().is_some() && memory.has_poll_of(self.regular_pace(), now) {
            memory.alert_until = Some(now + ALERT_FOR);
        }
        let unwatched = memory.is_anybody_stuck() && !self.idle.has_poller();
        let timers_due = self.earliest_timer() <= self.clock.now_ns();
        if unwatched || timers_due || self.has_visible_work() || self.is_unattended() {
            self.wake_one();
        }
    }

    /// Something waits, and no machine is idle that could be sent for it. If a processor is idle at the same time, a
    /// thread could not be started for it, and nobody but sysmon will try again. `runnext` counts: on an idle processor
    /// it has no owner who would get to it.
    fn is_unattended(&self) -> bool {
        let waits = !self.global.is_empty()
            || self.processors.iter().any(|processor| processor.has_work())
            || self.earliest_timer() != u64::MAX;
        waits && self.idle.snapshot().spares == 0
    }
}
