//! The comparison itself.

use order_tests::{Gmp, Library, Program, Shape, Tokio, Trace, generate, run, run_on_one_worker, shrink};

/// `GMP_ORDER_PROGRAMS` sets the number of programs, `GMP_ORDER_SEED` the number of the first one.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

fn compare(shape: Shape, programs: u64, on_tokio: fn(&Program) -> Trace, on_gmp: fn(&Program) -> Trace) {
    let first = number("GMP_ORDER_SEED", 0);
    let programs = number("GMP_ORDER_PROGRAMS", programs);
    let differs = |program: &Program| {
        let expected = on_tokio(program);
        // If two runs on tokio differ, there is no order to expect.
        expected != on_gmp(program) && expected == on_tokio(program)
    };
    let different: Vec<u64> = (first..first + programs).filter(|&seed| differs(&generate(shape, seed))).collect();
    let Some(seed) = different.first() else { return };
    let program = shrink(generate(shape, *seed), differs);
    panic!(
        "{} of {programs} programs run in another order, seeds {:?}...\n\nSmallest form of the first:\n{program}\n{}",
        different.len(),
        &different[..different.len().min(10)],
        side_by_side(&on_tokio(&program), &on_gmp(&program)),
    );
}

fn side_by_side(tokio: &Trace, gmp: &Trace) -> String {
    let line = |trace: &Trace, index: usize| {
        trace.get(index).map_or_else(String::new, |event| {
            format!("task {} step {} {:?} at {:?}", event.task, event.step as i32, event.what, event.now)
        })
    };
    let lines = (0..tokio.len().max(gmp.len())).map(|index| {
        let mark = if tokio.get(index) == gmp.get(index) { ' ' } else { '*' };
        format!("{mark} {:50} {}\n", line(tokio, index), line(gmp, index))
    });
    format!("  {:50} {}\n", Tokio::NAME, Gmp::NAME) + &lines.collect::<String>()
}

#[test]
fn current_thread_runs_random_programs_in_tokios_order() {
    compare(Shape::CurrentThread, 4_000, run::<Tokio>, run::<Gmp>);
}

#[test]
fn one_worker_runs_random_programs_in_tokios_order() {
    compare(Shape::OneWorker, 2_000, run_on_one_worker::<Tokio>, run_on_one_worker::<Gmp>);
}
