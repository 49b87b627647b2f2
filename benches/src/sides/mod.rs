//! The columns of the table, and how a row is measured on all runtimes that can run it.

pub mod go;

use anyhow::{Error, Result};

use self::go::Go;
use crate::args::Options;
use crate::measure::{Samples, Side, Turns, take_turns};
use crate::report::Line;
use crate::rt::{Gmp, Rt, Smol, Tokio};
use crate::workloads::{self, Workload};

/// The place of Go among the sides; gmp, tokio and smol come before it.
const GO: usize = 3;

/// The sides that take turns. gmp and tokio have every row.
#[derive(Debug)]
pub struct Sides {
    gmp: Gmp,
    tokio: Tokio,
    smol: Option<Smol>,
    go: Option<Go>,
}

impl Sides {
    /// Starts the sides that were asked for; without Go, if it isn't installed.
    pub fn start(options: &Options) -> Result<Self> {
        let procs = options.procs;
        Ok(Sides {
            gmp: Gmp::new(procs)?,
            tokio: Tokio::new(procs)?,
            smol: options.has("smol").then(|| Smol::new(procs)).transpose()?,
            go: options.has("go").then(|| Go::start(procs).map_err(no_column).ok()).flatten(),
        })
    }

    pub fn go_version(&self) -> Option<&str> {
        self.go.as_ref().map(Go::version)
    }

    /// Measures a row with `procs` Ps and reports every repetition to `progress`. If Go fails, a
    /// message says so and the table continues without Go.
    pub fn measure(&mut self, turns: &Turns, procs: usize, progress: impl FnMut(usize)) -> Result<Line> {
        let name = turns.workload;
        let sides = [
            side(&self.gmp, workloads::all(), name),
            side(&self.tokio, workloads::all(), name),
            self.smol.as_ref().and_then(|smol| side(smol, workloads::common(), name)),
            self.go.as_mut().filter(|go| go.has(name)).map(|go| Box::new(|| go.repetition(name)) as Side<'_, f64>),
        ];
        let (places, sides): (Vec<_>, Vec<_>) =
            sides.into_iter().enumerate().filter_map(|it| Some((it.0, it.1?))).unzip();
        let mut samples = [const { None }; 4];
        for (place, result) in places.into_iter().zip(take_turns(sides, turns, progress)) {
            match result {
                Err(error) if place == GO => {
                    no_column(error);
                    self.go = None;
                }
                result => samples[place] = Some(Samples::new(result?)),
            }
        }
        Ok(Line::new(name, procs, samples))
    }
}

fn no_column(error: Error) {
    // The first line break ends the progress bar.
    eprintln!("\ngmp-benches: no column for Go: {error:#}\n");
}

/// A runtime in this process, if it can run the workload with this name.
pub(crate) fn side<'a, R: Rt>(rt: &'a R, workloads: Vec<Workload<R>>, name: &str) -> Option<Side<'a, f64>> {
    let workload = workloads.into_iter().find(|it| it.name == name)?;
    Some(Box::new(move || workload.repetition(rt)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::options;

    #[test]
    fn when_go_fails_the_table_goes_on_without_it() {
        let options = options(&["--only", "chained_spawn", "--reps", "1", "--procs", "1", "--without", "go"]);
        let turns = &options.turns()[0];
        // The process lives for one row: a turn that doesn't count and one that does.
        let script = "echo ready fake chained_spawn; for i in 1 2; do read question; echo 10000 20000; done";
        let mut sides = Sides::start(&options).unwrap();
        sides.go = Some(Go::run(go::tests::fake(script), 1).unwrap());

        assert_eq!(sides.measure(turns, 1, |_| ()).unwrap().go, Some(0.5));
        assert_eq!(sides.measure(turns, 1, |_| ()).unwrap().go, None);
        assert!(sides.go.is_none(), "it gets no further turn");
    }
}
