//! One stall of the kind that tokio's users know, for the report: as many tasks block their threads
//! as the runtime has workers, while a ticker ticks every millisecond. On gmp the recorder writes
//! down which machines were stuck, and where the processors went.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cargo_gmp::trace::{Slice, Trace};
use clap::Parser;
use gmp_benches::report::{Bar, JsonLines, Kind};
use gmp_benches::rt::{Gmp, Rt, Tokio};
use gmp_exec::runtime::Handle;
use gmp_exec::trace::{Recorder, mark};

const PROCS: usize = 2;
/// The scene: the ticker ticks alone, then the tasks block, then it goes on alone.
const LENGTH: Duration = Duration::from_millis(80);
const QUIET: Duration = Duration::from_millis(20);
const HELD: Duration = Duration::from_millis(40);
/// The user's mark at the beginning of the scene.
const BEGIN: &str = "begin";

/// Lets two tasks block both workers for 40 ms beside a ticker, on gmp with a recorder and on
/// tokio, prints what was seen, and writes it as JSON lines for the report.
#[derive(Debug, Parser)]
struct Options {
    /// Where to write the JSON lines
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> Result<()> {
    let mut json = JsonLines::create(Options::parse().json.as_deref())?;
    let on_tokio = Tokio::new(PROCS)?;
    let ticks_on_tokio = on_tokio.block_on(scene::<Tokio>(|| drop(tokio::spawn(block()))));
    let (ticks_on_gmp, recorded) = on_gmp()?;
    for (name, ticks) in [("tokio", &ticks_on_tokio), ("gmp", &ticks_on_gmp)] {
        let longest_gap = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        println!("The longest gap between two ticks on {name}: {longest_gap:.1} ms.");
        ticks.iter().try_for_each(|at| json.line(&tick(name, *at)))?;
    }
    let stuck = recorded.iter().filter(|bar| bar.kind == Kind::WentOn);
    stuck.filter_map(|stuck| fate(&recorded, stuck)).for_each(|fate| println!("{fate}"));
    recorded.iter().try_for_each(|bar| json.line(bar))?;
    Ok(())
}

/// Returns the moments of the ticks in ms since the beginning. The runtime's own `spawn` is called
/// here and not through `R`, because the recorder shows the line that calls it.
async fn scene<R: Rt>(spawn_block: impl Fn()) -> Vec<f64> {
    let begin = Instant::now();
    let ticker = R::spawn(async move {
        let mut ticks = Vec::new();
        while begin.elapsed() < LENGTH {
            R::sleep(Duration::from_millis(1)).await;
            ticks.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        ticks
    });
    R::sleep(QUIET).await;
    for _ in 0..PROCS {
        spawn_block();
    }
    ticker.await.expect("the ticker doesn't panic")
}

async fn block() {
    thread::sleep(HELD);
}

fn on_gmp() -> Result<(Vec<f64>, Vec<Bar>)> {
    let gmp = Gmp::new(PROCS)?;
    let recorder = gmp.block_on(async { Recorder::start(&Handle::current()) }).context("no recorder")?;
    let ticks = gmp.block_on(async {
        mark(BEGIN);
        scene::<Gmp>(|| drop(gmp_exec::spawn(block()))).await
    });
    let mut file = Vec::new();
    recorder.stop().write_perfetto(&mut file)?;
    Ok((ticks, bars(&Trace::read(&file)?)?))
}

/// What ran on the processors, which machine held them, and the polls that went on without one.
fn bars(trace: &Trace) -> Result<Vec<Bar>> {
    let begin =
        trace.instants.iter().find(|instant| instant.name == BEGIN).context("the recording has no beginning")?;
    let since_begin = |at: u64| (at as f64 - begin.at as f64) / 1e6;
    let bar = |slice: &Slice| {
        let bar = Bar {
            track: slice.track.clone(),
            kind: kind(slice)?,
            name: slice.name.clone(),
            asleep_in: slice.asleep_in.clone(),
            begin: since_begin(slice.begin).max(0.0),
            end: since_begin(slice.end),
        };
        (bar.end > 0.0).then_some(bar)
    };
    Ok(trace.slices.iter().filter_map(bar).collect())
}

/// `None`: not drawn.
fn kind(slice: &Slice) -> Option<Kind> {
    match (slice.track.as_bytes().first()?, slice.is_poll) {
        (b'P', true) => Some(Kind::Ran),
        (b'M', true) => Some(Kind::WentOn),
        (b'M', false) if slice.name.starts_with('P') => Some(Kind::Held),
        _ => None,
    }
}

fn tick(on: &str, at: f64) -> Bar {
    Bar { track: format!("ticks on {on}"), kind: Kind::Tick, name: String::new(), asleep_in: None, begin: at, end: at }
}

/// Which machine was stuck in which task, and where its processor went, if another machine took it.
fn fate(bars: &[Bar], stuck: &Bar) -> Option<String> {
    let Bar { track, name, asleep_in, begin, end, .. } = stuck;
    let mut held = bars.iter().filter(|bar| bar.kind == Kind::Held);
    let processor = &held.clone().rfind(|bar| bar.track == *track && bar.begin <= *begin)?.name;
    let heir = held.find(|bar| bar.name == *processor && bar.track != *track && bar.end > *begin)?;
    let sleep = asleep_in.as_ref().map_or(String::new(), |call| format!(", asleep in {call}"));
    Some(format!(
        "{track} was stuck in the task of {name}{sleep}. {processor} was taken from it at {begin:.2} ms and went to {} \
         at {:.2} ms. {track} went on without a processor until {end:.1} ms.",
        heir.track, heir.begin
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_shows_who_was_stuck_and_who_got_the_processors() {
        let (_, bars) = on_gmp().unwrap();
        let stuck: Vec<&Bar> = bars.iter().filter(|bar| bar.kind == Kind::WentOn).collect();
        // While nothing waits for the second processor, the second task keeps it.
        assert!((1..=PROCS).contains(&stuck.len()), "{bars:?}");
        assert!(stuck.iter().all(|stuck| fate(&bars, stuck).is_some()), "a processor went to nobody: {bars:?}");
    }
}
