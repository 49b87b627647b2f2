//! A processor that moves back and forth between two machines. The machine that has lost it becomes
//! a spare.

use std::time::Instant;

use crate::sched::bench::{busy_machine, machine, scheduler, task};
use crate::sched::handoff;
use crate::sched::handoff::take::take;
use crate::sched::local::{Local, Next};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::idle::Role;
use crate::sched::state::machine::Stuck;
use crate::sched::state::machine::ownership::Region;
use crate::sched::submit::push_tail;
use crate::sched::sysmon::{self, Memory};
use crate::sync::Arc;
use crate::task::StuckBy;

/// One processor with a task that waits, so that the processor is worth handing off; two machines,
/// and a third one in the netpoll.
pub struct Relay {
    scheduler: Arc<Scheduler>,
    runner: Local,
    spare: Local,
    memory: Memory,
}

impl Relay {
    /// One machine has the processor, the other is a spare.
    #[expect(clippy::new_without_default, reason = "it builds a scheduler")]
    pub fn new() -> Relay {
        let scheduler = scheduler(1);
        assert_eq!(become_idle(&machine(&scheduler)), Role::Sleeper);
        let (runner, spare) = (busy_machine(&scheduler), machine(&scheduler));
        assert_eq!(become_idle(&spare), Role::Spare);
        let relay = Relay { scheduler, runner, spare, memory: Memory::default() };
        let guard = relay.runner.enter();
        let held = guard.held().expect("it is busy");
        assert!(push_tail(&relay.scheduler, &held, task(&relay.scheduler)));
        drop(guard);
        relay
    }

    /// The cost that a poll pays so that its processor can be taken.
    pub fn poll(&self) {
        self.runner.machine.ownership.begin(Region::Poll);
        self.end_poll();
    }

    /// The cost that waking a task pays for the same reason.
    pub fn visit(&self) {
        assert!(self.runner.enter().held().is_some());
    }

    /// sysmon's look at a machine that is not stuck.
    pub fn look(&mut self) {
        self.runner.machine.ownership.begin(Region::Poll);
        sysmon::look(&self.scheduler, &mut self.memory, Instant::now());
        self.end_poll();
        assert!(self.runner.lost_by.get().is_none(), "a new poll is not stuck");
    }

    /// Takes the processor from the machine, which is inside a poll, and gives it to the spare.
    pub fn retake(&mut self) {
        let ownership = &self.runner.machine.ownership;
        ownership.begin(Region::Poll);
        let seen = ownership.look().expect("it polls");
        let stuck = Stuck {
            machine: self.runner.machine.clone(),
            seen,
            cause: StuckBy::Blocking,
            since: std::time::Instant::now(),
        };
        assert!(take(&self.scheduler, &stuck), "no other thread interferes");
        self.end_poll();
        assert!(self.runner.lost_by.take().is_some(), "the processor was taken, and the machine notices that");
        self.change_over();
    }

    /// The machine hands off the processor itself, as before a blocking section.
    pub fn hand_off(&mut self) {
        let guard = self.runner.enter();
        handoff::hand_off(&self.runner);
        assert!(guard.held().is_none(), "a spare machine has it");
        drop(guard);
        self.change_over();
    }

    /// As at the end of a task's poll: the machine stays in scheduler code, the only place where it
    /// may take a processor.
    fn end_poll(&self) {
        let (_, entry) = self.runner.machine.ownership.enter();
        self.runner.record_loss(entry);
    }

    /// The spare starts with its assignment, and the other machine becomes the spare.
    fn change_over(&mut self) {
        let assignment = self.spare.machine.take_assignment().expect("the spare was assigned the processor");
        assert!(matches!(self.spare.accept(assignment), Next::Look));
        assert_eq!(become_idle(&self.runner), Role::Spare);
        std::mem::swap(&mut self.runner, &mut self.spare);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let guard = self.runner.enter();
        let held = guard.held().expect("it is busy");
        while let Some(task) = held.processor.pop(&held.proof) {
            task.run();
        }
    }
}

fn become_idle(local: &Local) -> Role {
    local.scheduler.idle.go_idle(None, &local.machine, false)
}
