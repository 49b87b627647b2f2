//! The rows to be measured, and what is known about them beforehand.

use crate::args::Options;
use crate::measure::{Samples, Turns};
use crate::memory;
use crate::report::Row;
use crate::rt::Tokio;
use crate::workloads::{self, Goal, Group, Workload};

/// A row without figures yet.
#[derive(Debug)]
pub struct Plan {
    /// The workload's name.
    pub name: &'static str,
    /// The part of the table that the row belongs to.
    pub group: Group,
    unit: &'static str,
    goal: Option<Goal>,
    modes: Option<f64>,
    reps: usize,
    warm_up: bool,
}

/// A process that starts and spawns a million tasks takes a second or two, and its successor gives
/// the same result within 1 %.
const MEMORY_REPS: usize = 3;

/// The names of all rows.
pub fn names() -> Vec<&'static str> {
    workloads::all::<Tokio>().iter().map(|workload| workload.name).chain([memory::NAME]).collect()
}

/// The rows that were asked for, in the order of the table.
pub fn selected(options: &Options) -> Vec<Plan> {
    let timed = workloads::all::<Tokio>().into_iter().map(|workload| Plan::timed(&workload, options));
    timed.chain([Plan::memory(options)]).filter(|plan| options.selects(plan.name)).collect()
}

impl Plan {
    fn timed(workload: &Workload<Tokio>, options: &Options) -> Self {
        let &Workload { name, group, modes, .. } = workload;
        let goal = workload.goal(options.procs);
        let (reps, warm_up) = if options.is_quick() && workload.slow { (1, false) } else { (options.reps(), true) };
        Plan { name, group, unit: "ns/op", goal, modes, reps, warm_up }
    }

    fn memory(options: &Options) -> Self {
        let goal = (options.procs == 2).then_some(memory::GOAL);
        let reps = if options.is_quick() { 1 } else { options.reps().min(MEMORY_REPS) };
        Plan { name: memory::NAME, group: Group::Memory, unit: "bytes", goal, modes: None, reps, warm_up: false }
    }

    /// The same row with another number of repetitions.
    pub fn with(self, reps: usize) -> Self {
        Plan { reps, ..self }
    }

    /// The workload and repetitions for the sides' turns.
    pub fn turns(&self) -> Turns<'static> {
        Turns { workload: self.name, reps: self.reps, warm_up: self.warm_up }
    }

    /// The row, once it has its figures.
    pub fn row(&self, gmp: Samples, tokio: Samples, smol: Option<Samples>, go: Option<Samples>) -> Row {
        let &Plan { name, group, unit, goal, modes, .. } = self;
        Row { name, group, unit, goal, modes, gmp, tokio, smol, go }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::options;

    fn reps(arguments: &[&str], name: &str) -> (usize, bool) {
        let plans = selected(&options(arguments));
        let plan = plans.iter().find(|plan| plan.name == name).unwrap();
        (plan.turns().reps, plan.turns().warm_up)
    }

    #[test]
    fn a_quick_run_makes_slow_rows_once() {
        assert_eq!(reps(&["--quick"], "echo_1000"), (1, false));
        assert_eq!(reps(&["--quick"], memory::NAME), (1, false));
        assert_eq!(reps(&["--quick"], "echo_64"), (3, true));
    }

    #[test]
    fn the_memory_of_a_million_tasks_is_not_measured_a_thousand_times() {
        assert_eq!(reps(&["--reps", "1000"], memory::NAME), (3, false));
        assert_eq!(reps(&["--reps", "1000"], "echo_1000"), (1000, true));
    }

    #[test]
    fn every_row_can_be_asked_for_and_none_else_is_then_run() {
        for name in names() {
            assert_eq!(selected(&options(&["--only", name])).iter().map(|plan| plan.name).collect::<Vec<_>>(), [name]);
        }
    }
}
