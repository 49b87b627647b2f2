//! The spares: machines that are parked, or about to park, and available for a processor.

use crate::sched::state::machine::Machine;
use crate::sync::Arc;

/// How many spares a waker considers. Many of a thousand spares may have slept on one CPU.
const CONSIDERED: usize = 8;

/// The last spare that was listed is the first one to be woken, because its caches are the warmest.
/// But a spare that went to sleep on the waker's own CPU comes after others: the kernel often wakes
/// a thread where it slept, also if the waker goes on running there, and then both share that CPU
/// for up to a tick of the kernel's clock while another CPU is idle.
///
/// A thread that is about to sleep avoids no CPU: a machine that hands its processor off, and sysmon
/// when it takes one. Its own CPU is free in a moment, and the other one may be that of a busy
/// machine. (Measured with sysmon avoiding its CPU: a saturated runtime beside one task that sleeps
/// lost 1.7 to 2.4 instead of 1.2 to 1.6 % of its polls.)
#[derive(Debug, Default)]
pub(in crate::sched) struct Spares(Vec<Spare>);

#[derive(Debug)]
struct Spare {
    machine: Arc<Machine>,
    /// Where the machine ran when it was listed. `None`: not known.
    cpu: Option<usize>,
}

impl Spares {
    /// Lists a machine. `cpu`: where its thread runs now, or `None` for a machine that was reserved
    /// and not needed.
    pub(in crate::sched) fn push(&mut self, machine: Arc<Machine>, cpu: Option<usize>) {
        self.0.push(Spare { machine, cpu });
    }

    /// The spare to be woken. `avoid`: the CPU of the waker, if the waker goes on running.
    pub(in crate::sched) fn pop(&mut self, avoid: Option<usize>) -> Option<Arc<Machine>> {
        let last = self.0.len().checked_sub(1)?;
        let is_apart = |avoid| move |spare: &Spare| spare.cpu.is_some_and(|cpu| cpu != avoid);
        let apart = avoid
            .map(is_apart)
            .and_then(|is_apart| (0..self.0.len()).rev().take(CONSIDERED).find(|&at| is_apart(&self.0[at])));
        Some(self.0.remove(apart.unwrap_or(last)).machine)
    }

    pub(in crate::sched) fn remove(&mut self, machine: &Arc<Machine>) {
        self.0.retain(|spare| !Arc::ptr_eq(&spare.machine, machine));
    }

    pub(in crate::sched) fn contains(&self, machine: &Arc<Machine>) -> bool {
        self.0.iter().any(|spare| Arc::ptr_eq(&spare.machine, machine))
    }

    pub(in crate::sched) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes all of them off the list.
    pub(in crate::sched) fn drain(&mut self) -> impl Iterator<Item = Arc<Machine>> {
        self.0.drain(..).map(|spare| spare.machine)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn spares(cpus: &[Option<usize>]) -> Spares {
        Spares(cpus.iter().enumerate().map(|(id, &cpu)| Spare { machine: Machine::new(id), cpu }).collect())
    }

    /// The ids of all spares, in the order in which a waker on `waker` wakes them.
    fn order(cpus: &[Option<usize>], waker: Option<usize>) -> Vec<usize> {
        let mut spares = spares(cpus);
        std::iter::from_fn(|| spares.pop(waker)).map(|machine| machine.id).collect()
    }

    #[test]
    fn those_that_slept_on_the_cpu_of_the_waker_come_last() {
        assert_eq!(order(&[Some(0), Some(1), Some(0), Some(1)], Some(1)), [2, 0, 3, 1]);
        assert_eq!(order(&[Some(0), Some(1), None, Some(1)], Some(1)), [0, 3, 2, 1]);
    }

    #[test]
    fn without_a_choice_the_last_one_comes_first() {
        assert_eq!(order(&[Some(1); 3], Some(1)), [2, 1, 0]);
        assert_eq!(order(&[Some(1), None, Some(0)], None), [2, 1, 0]);
        assert_eq!(order(&[None; 3], Some(1)), [2, 1, 0]);
    }

    #[test]
    fn a_waker_does_not_search_for_long() {
        let mut cpus = vec![Some(1); CONSIDERED];
        cpus.insert(0, Some(0));
        assert_eq!(order(&cpus, Some(1))[..3], [CONSIDERED, 0, CONSIDERED - 1]);
    }
}
