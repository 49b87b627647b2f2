//! What the recorder (`trace`) makes of the events. `no_recorder` stands here without the feature
//! `insight`.

use std::time::Instant;

use super::Event;
use crate::context;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::task::{Id, StuckBy};
use crate::trace::{Kind, Left, Recording, StuckPoll, Taken, is_new, scheduled};
pub(crate) use crate::trace::{Owner, Recorded, Settings, Tap, is_any_recorded, record_until_written, start};

/// Something happens on a thread that has this tap. Does nothing unless the thread records.
#[cold]
#[inline(never)]
pub(super) fn tell(tap: &Tap, event: Event<'_>) {
    match event {
        Event::Search => tap.forget_end(),
        Event::Schedule(task, yielded) => tap.schedule(task, yielded),
        Event::PollBegin(task, machine) => tap.begin_poll(task, machine.and_then(processor)),
        Event::Wait(task) => tap.leave(task, Left::Waiting),
        Event::PollEnd => tap.end_poll(),
        Event::RootBegin(root, machine) => tap.begin_root(root.id, root.location, machine.and_then(processor)),
        Event::RootEnd(is_ready) => tap.end_root(is_ready),
        Event::LocalBegin(task) => tap.begin_local(task),
        Event::LocalEnd => tap.end_local(),
        Event::LocalSchedule(task) => tap.schedule_local(task),
        event => tap.record_with(|recording| packed(recording, event)),
    }
}

/// Something happens on a thread that has no tap.
#[cold]
#[inline(never)]
pub(super) fn tell_outside(recorded: &Recorded, event: Event<'_>) {
    if let Some(recording) = recorded.current() {
        let (kind, subject, small) = packed(&recording, event);
        recording.record_outside(kind, subject, small);
    }
}

fn processor(machine: &Machine) -> Option<usize> {
    machine.ownership.holds()
}

fn packed(recording: &Recording, event: Event<'_>) -> (Kind, u64, u16) {
    match event {
        Event::Acquire(index) => (Kind::Acquire, 0, index as u16),
        Event::Release(token) => (Kind::Release, 0, token.index() as u16),
        Event::HandOff(token) => (Kind::Release, 1, token.index() as u16),
        Event::Park => (Kind::Park, 0, 0),
        Event::ParkInNetpoll => (Kind::Park, 0, 1),
        Event::Unpark => (Kind::Unpark, 0, 0),
        Event::UnparkWithProcessor => (Kind::Unpark, 0, 1),
        Event::Queues(scheduler, index) => {
            let lengths = [scheduler.processors[index].depth(), scheduler.global.len()];
            let [own, global] = lengths.map(|length| length.min((1 << 24) - 1) as u64);
            (Kind::Queues, own | global << 24, index as u16)
        }
        Event::Steal(task, victim) => (Kind::Steal, task.metadata().id.as_u64(), victim as u16),
        Event::Timers(count) => (Kind::Timers, 0, count as u16),
        Event::Ready(count) => (Kind::Ready, 0, count as u16),
        Event::SectionBegin => (Kind::SectionBegin, context::current_task_id(), 0),
        Event::SectionEnd => (Kind::SectionEnd, 0, 0),
        Event::Schedule(task, _) => {
            let (kind, small) = scheduled(recording, task);
            (kind, task.id.as_u64(), small)
        }
        Event::LocalSchedule(task) => {
            let place = if is_new(task) { recording.place(task.location) } else { 0 };
            (Kind::Wake, task.id.as_u64(), place)
        }
        Event::RootWake(root) => (Kind::Wake, root, 0),
        Event::Take(processor, stuck) => {
            let computes = stuck.cause == StuckBy::Computing;
            (Kind::Take, stuck.machine.id as u64, Taken { processor, computes }.pack())
        }
        Event::Sight(task, sight) => (Kind::Sight, task.as_u64(), recording.sight(sight.clone())),
        Event::Mark(task, name) => (Kind::Mark, task, recording.name(name)),
        _ => unreachable!("a step of a poll, which only a tap is told"),
    }
}

/// A poll holds its thread. Not called by sysmon, as this takes a lock.
pub(super) fn tell_stuck(recorded: &Recorded, machine: &Arc<Machine>, turn: u64, task: Id, since: Instant) {
    recorded.note_stuck(StuckPoll { machine: machine.clone(), turn, task: task.as_u64(), since });
}
