//! One stall, from gmp's recorder.

use gmp_benches::report::{Bar, Kind};
use maud::{Markup, html};

use crate::plots;

pub(crate) fn body(bars: &[Bar]) -> Markup {
    html! {
        div.scroll { (plots::stall(bars)) }
        ul {
            @for on in ["tokio", "gmp"] { li { "The longest gap between two ticks on " (on) ": " (gap(bars, on)) "." } }
            @for stuck in bars.iter().filter(|bar| bar.kind == Kind::WentOn) { li { (fate(bars, stuck)) } }
        }
    }
}

fn gap(bars: &[Bar], on: &str) -> String {
    let ticks: Vec<f64> =
        bars.iter().filter(|bar| bar.kind == Kind::Tick && bar.track.ends_with(on)).map(|bar| bar.begin).collect();
    format!("{:.1} ms", ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max))
}

/// Which machine was stuck in which task, and where its processor went.
fn fate(bars: &[Bar], stuck: &Bar) -> String {
    let held = |bar: &&Bar| bar.kind == Kind::Held;
    let lost = bars.iter().filter(held).rfind(|bar| bar.track == stuck.track && bar.begin <= stuck.begin);
    let processor = lost.map_or("its processor", |bar| &bar.name);
    let heir =
        bars.iter().filter(held).find(|bar| bar.name == processor && bar.track != stuck.track && bar.end > stuck.begin);
    let sleep = stuck.asleep_in.as_ref().map_or(String::new(), |call| format!(", asleep in {call}"));
    let went = heir.map_or("nobody".to_owned(), |heir| format!("{} at {:.2} ms", heir.track, heir.begin));
    let Bar { track, name, begin, end, .. } = stuck;
    format!(
        "{track} was stuck in the task of {name}{sleep}. {processor} was taken from it at {begin:.2} ms and went to {went}. {track} went on without a processor until {end:.1} ms."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(track: &str, kind: Kind, name: &str, begin: f64, end: f64) -> Bar {
        Bar { track: track.to_owned(), kind, name: name.to_owned(), asleep_in: None, begin, end }
    }

    #[test]
    fn the_heir_is_the_machine_that_held_the_processor_next() {
        let stuck =
            Bar { asleep_in: Some("clock_nanosleep".to_owned()), ..bar("M1", Kind::WentOn, "a.rs:1", 20.25, 60.0) };
        let bars = [
            bar("M3", Kind::Held, "P0", 1.0, 2.0),
            bar("M1", Kind::Held, "P0", 5.0, 20.25),
            bar("M2", Kind::Held, "P1", 0.0, 80.0),
            stuck.clone(),
            bar("M4", Kind::Held, "P0", 20.26, 80.0),
        ];
        assert_eq!(
            fate(&bars, &stuck),
            "M1 was stuck in the task of a.rs:1, asleep in clock_nanosleep. P0 was taken from it at 20.25 ms and went to M4 at 20.26 ms. M1 went on without a processor until 60.0 ms."
        );
        let ticks = [bar("ticks on gmp", Kind::Tick, "", 1.0, 1.0), bar("ticks on gmp", Kind::Tick, "", 3.5, 3.5)];
        assert_eq!((gap(&ticks, "gmp"), gap(&ticks, "tokio")), ("2.5 ms".to_owned(), "0.0 ms".to_owned()));
    }
}
