//! The columns of the table: the runtimes that were started for them, and how a row is measured on
//! all that can run it.

pub mod go;
mod in_process;

use std::io;

use self::go::Go;
pub(crate) use self::in_process::InProcess;
use crate::args::Options;
use crate::measure::{Samples, Side, Turns, take_turns};
use crate::report;
use crate::report::Line;
use crate::rt::{Gmp, Smol, Tokio};
use crate::workloads;

/// The sides that take turns. gmp and tokio have every row.
#[derive(Debug)]
pub struct Sides {
    gmp: InProcess<Gmp>,
    tokio: InProcess<Tokio>,
    smol: Option<InProcess<Smol>>,
    go: Option<Go>,
}

impl Sides {
    /// Starts the sides that were asked for; without Go, if it isn't installed.
    pub fn start(options: &Options) -> io::Result<Self> {
        let procs = options.procs;
        let smol = [workloads::scheduler(), workloads::blocking(), workloads::timers()].into_iter().flatten();
        let smol = options.has("smol").then(|| InProcess::start(procs, smol.collect()));
        let go = options.has("go").then(|| Go::start(procs).map_err(no_column).ok()).flatten();
        Ok(Sides {
            gmp: InProcess::start(procs, workloads::all())?,
            tokio: InProcess::start(procs, workloads::all())?,
            smol: smol.transpose()?,
            go,
        })
    }

    /// The version of Go, if Go takes part.
    pub fn go_version(&self) -> Option<&str> {
        self.go.as_ref().map(Go::version)
    }

    /// Measures a row with `procs` Ps and reports every repetition to `progress`. If Go fails, a
    /// message says so and the table continues without Go.
    pub fn measure(&mut self, turns: &Turns, procs: usize, progress: impl FnMut(usize)) -> io::Result<Line> {
        let mut sides: Vec<&mut dyn Side> = vec![&mut self.gmp, &mut self.tokio];
        let has_smol = join(&mut sides, &mut self.smol, turns.workload);
        let has_go = join(&mut sides, &mut self.go, turns.workload);

        let mut results = take_turns(&mut sides, turns, progress).into_iter();
        let mut required =
            || results.next().expect("every side has a result").map(|samples| Samples::new(samples).all().to_vec());
        let (gmp, tokio) = (required()?, required()?);
        let smol = if has_smol { Some(required()?) } else { None };
        let go = if has_go { required().map_err(no_column).ok() } else { None };
        if has_go && go.is_none() {
            self.go = None;
        }
        Ok(Line::new(turns, procs, report::Sides { gmp, tokio, smol, go }))
    }
}

/// Adds `side` to the turns, if it exists and has the workload.
fn join<'a, S: Side>(sides: &mut Vec<&'a mut dyn Side>, side: &'a mut Option<S>, workload: &str) -> bool {
    let side = side.as_mut().filter(|side| side.has(workload));
    let joined = side.is_some();
    sides.extend(side.map(|side| side as &mut dyn Side));
    joined
}

fn no_column(error: io::Error) {
    // The first line break ends the progress bar.
    eprintln!("\ngmp-benches: no column for Go: {error}\n");
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::args::tests::options;
    use crate::plan;

    #[test]
    fn when_go_fails_the_table_goes_on_without_it() {
        let options = options(&["--only", "chained_spawn", "--reps", "1", "--procs", "1", "--without", "go"]);
        let plan = &plan::selected(&options)[0];
        // The process lives for one row: a turn that doesn't count and one that does.
        let script = "echo ready fake chained_spawn; for i in 1 2; do read question; echo 10000 20000; done";
        let mut sides = Sides::start(&options).unwrap();
        sides.go = Some(Go::run(go::process::tests::fake(script), 1).unwrap());

        assert_eq!(sides.measure(plan, 1, |_| ()).unwrap().go, Some(0.5));
        assert_eq!(sides.measure(plan, 1, |_| ()).unwrap().go, None);
        assert!(sides.go.is_none(), "it gets no further turn");
    }
}
