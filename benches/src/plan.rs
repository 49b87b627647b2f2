//! The rows to be measured, and their repetitions.

use crate::args::Options;
use crate::measure::Turns;
use crate::rt::Tokio;
use crate::workloads::Workload;
use crate::{memory, workloads};

/// A process that starts and spawns a million tasks takes a second or two, and its successor gives
/// the same result within 1 %.
const MEMORY_REPS: usize = 3;

/// The names of all rows.
pub fn names() -> Vec<&'static str> {
    workloads::all::<Tokio>().iter().map(|workload| workload.name).chain([memory::NAME]).collect()
}

/// The rows that were asked for, in the order of the table.
pub fn selected(options: &Options) -> Vec<Turns> {
    let timed = workloads::all::<Tokio>().into_iter().map(|workload| timed(&workload, options));
    timed.chain([memory(options)]).filter(|turns| options.selects(turns.workload)).collect()
}

fn timed(workload: &Workload<Tokio>, options: &Options) -> Turns {
    let short = options.is_quick() && workload.slow;
    Turns { workload: workload.name, reps: if short { 1 } else { options.reps() }, warm_up: !short }
}

fn memory(options: &Options) -> Turns {
    let reps = if options.is_quick() { 1 } else { options.reps().min(MEMORY_REPS) };
    Turns { workload: memory::NAME, reps, warm_up: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::options;

    #[test]
    fn slow_rows_are_made_once_if_quick_and_the_memory_of_a_million_tasks_never_a_thousand_times() {
        let quick: &[&str] = &["--quick"];
        for (arguments, workload, reps, warm_up) in [
            (quick, "echo_1000", 1, false),
            (quick, memory::NAME, 1, false),
            (quick, "echo_64", 3, true),
            (&["--reps", "1000"], memory::NAME, 3, false),
            (&["--reps", "1000"], "echo_1000", 1000, true),
        ] {
            let plans = selected(&options(arguments));
            assert!(plans.contains(&Turns { workload, reps, warm_up }), "{arguments:?} {workload}: {plans:?}");
        }
    }

    #[test]
    fn every_row_can_be_asked_for_and_none_else_is_then_run() {
        for name in names() {
            let plans = selected(&options(&["--only", name]));
            assert_eq!(plans.iter().map(|plan| plan.workload).collect::<Vec<_>>(), [name]);
        }
    }
}
