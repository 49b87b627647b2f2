//! The columns of the table: the runtimes that were started for them, and how a row is measured on
//! all that can run it.

pub mod go;

use std::io;

use self::go::Go;
use crate::args::Options;
use crate::measure::{Side, Turns, take_turns};
use crate::report::Line;
use crate::rt::{Gmp, Rt, Smol, Tokio};
use crate::workloads::{self, Workload};

/// The place of Go among the sides; gmp, tokio and smol come before it.
const GO: usize = 3;

/// The sides that take turns. gmp and tokio have every row.
#[derive(Debug)]
pub struct Sides {
    sides: [Option<Box<dyn Side>>; 4],
    go_version: Option<String>,
}

impl Sides {
    /// Starts the sides that were asked for; without Go, if it isn't installed.
    pub fn start(options: &Options) -> io::Result<Self> {
        let procs = options.procs;
        let gmp = InProcess { rt: Gmp::new(procs)?, workloads: workloads::all() };
        let tokio = InProcess { rt: Tokio::new(procs)?, workloads: workloads::all() };
        let smol = options.has("smol").then(|| Smol::new(procs)).transpose()?;
        let smol = smol.map(|rt| Box::new(InProcess { rt, workloads: workloads::common() }) as Box<dyn Side>);
        let go = options.has("go").then(|| Go::start(procs).map_err(no_column).ok()).flatten();
        let go_version = go.as_ref().map(|go| go.version().to_owned());
        let go = go.map(|go| Box::new(go) as Box<dyn Side>);
        Ok(Sides { sides: [Some(Box::new(gmp)), Some(Box::new(tokio)), smol, go], go_version })
    }

    /// The version of Go, if Go takes part.
    pub fn go_version(&self) -> Option<&str> {
        self.go_version.as_deref()
    }

    /// Measures a row with `procs` Ps and reports every repetition to `progress`. If Go fails, a
    /// message says so and the table continues without Go.
    pub fn measure(&mut self, turns: &Turns, procs: usize, progress: impl FnMut(usize)) -> io::Result<Line> {
        let has = |side: &&mut Box<dyn Side>| side.has(turns.workload);
        let sides = self.sides.iter_mut().enumerate();
        let sides = sides.filter_map(|(place, side)| Some((place, side.as_mut().filter(has)?)));
        let (places, mut sides): (Vec<_>, Vec<&mut dyn Side>) =
            sides.map(|(place, side)| (place, &mut **side as _)).unzip();
        let results = take_turns(&mut sides, turns, progress);
        let mut samples = [const { None }; 4];
        for (place, result) in places.into_iter().zip(results) {
            match result {
                Err(error) if place == GO => {
                    no_column(error);
                    self.sides[GO] = None;
                }
                result => samples[place] = Some(result?),
            }
        }
        Ok(Line::new(turns.workload, procs, samples))
    }
}

fn no_column(error: io::Error) {
    // The first line break ends the progress bar.
    eprintln!("\ngmp-benches: no column for Go: {error}\n");
}

/// A runtime in this process, and the workloads that it can run.
#[derive(Debug)]
pub(crate) struct InProcess<R> {
    pub(crate) rt: R,
    pub(crate) workloads: Vec<Workload<R>>,
}

impl<R: Rt> Side for InProcess<R> {
    fn has(&self, workload: &str) -> bool {
        self.workloads.iter().any(|it| it.name == workload)
    }

    fn repetition(&mut self, workload: &str) -> io::Result<f64> {
        let found = self.workloads.iter().find(|it| it.name == workload);
        found.expect("a side is asked only for what it has").repetition(&self.rt)
    }
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
        sides.sides[GO] = Some(Box::new(Go::run(go::tests::fake(script), 1).unwrap()));

        assert_eq!(sides.measure(turns, 1, |_| ()).unwrap().go, Some(0.5));
        assert_eq!(sides.measure(turns, 1, |_| ()).unwrap().go, None);
        assert!(sides.sides[GO].is_none(), "it gets no further turn");
    }
}
