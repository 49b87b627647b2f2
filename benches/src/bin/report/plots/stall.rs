//! A recorded stall: a line for the ticks of each runtime, for each processor and for each machine.

use gmp_benches::report::{Bar, Kind};
use maud::{Markup, html};

use super::svg;

const WIDTH: f64 = 680.0;
const LEFT: f64 = 96.0;
/// Room for half of the last number.
const RIGHT: f64 = 20.0;
const ROW: f64 = 24.0;
const TOP: f64 = 8.0;
/// The smallest width at which a bar can be seen.
const THINNEST: f64 = 1.0;

pub(crate) fn stall(bars: &[Bar]) -> Markup {
    let tracks = tracks(bars);
    let end = bars.iter().map(|bar| bar.end).fold(0.0, f64::max);
    let ground = TOP + ROW * tracks.len() as f64;
    let place = |ms: f64| LEFT + ms / end * (WIDTH - LEFT - RIGHT);
    let body = html! {
        @for ms in (0..=end as u32).step_by(10) {
            (svg::line("grid", (place(ms.into()), TOP), (place(ms.into()), ground)))
            (svg::text("faint small", (place(ms.into()), ground + 14.0), Some("middle"), &format!("{ms} ms")))
        }
        @for (row, track) in tracks.iter().enumerate() {
            @let middle = TOP + ROW * (row as f64 + 0.5);
            (svg::text("ink small", (LEFT - 8.0, middle + 4.0), Some("end"), track))
            @for bar in bars.iter().filter(|bar| bar.track == **track) { (shape(bar, place(bar.begin), place(bar.end), middle)) }
        }
    };
    svg::inline((WIDTH, ground + 22.0), "A stall on tokio, and the same recorded on gmp", &body)
}

/// The ticks first, then processors and machines, as they are numbered.
fn tracks(bars: &[Bar]) -> Vec<&str> {
    let mut tracks: Vec<(Kind, &str)> = bars.iter().map(|bar| (bar.kind, bar.track.as_str())).collect();
    tracks.sort_by_key(|(kind, track)| (*kind != Kind::Tick, *kind != Kind::Ran, track.len(), *track));
    let mut tracks: Vec<&str> = tracks.into_iter().map(|(_, track)| track).collect();
    tracks.dedup();
    tracks
}

fn shape(bar: &Bar, from: f64, to: f64, middle: f64) -> Markup {
    let to = to.max(from + THINNEST);
    let lasted = format!("{} for {:.2} ms", bar.name, bar.end - bar.begin);
    let asleep_in = bar.asleep_in.as_deref().unwrap_or("goes on");
    let (class, hint, words) = match bar.kind {
        Kind::Tick => return svg::line(side(&bar.track), (from, middle - 6.0), (from, middle + 6.0)),
        Kind::Ran => ("gmp", lasted, None),
        Kind::Held => {
            ("grid", format!("holds {}", bar.name), (to - from > 24.0).then_some(("faint small", &bar.name[..])))
        }
        Kind::WentOn => ("tokio", lasted, Some(("paper small", asleep_in))),
    };
    let shapes = html! {
        (svg::bar(class, (from, middle - 8.0), (to, middle + 8.0)))
        @if let Some((class, words)) = words { (svg::text(class, (from + 4.0, middle + 4.0), None, words)) }
    };
    svg::group(&hint, &shapes)
}

fn side(track: &str) -> &'static str {
    if track.ends_with("tokio") { "tokio" } else { "gmp" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_track_has_a_line_in_order_and_each_bar_a_shape() {
        let bar = |track: &str, kind, begin, end| Bar {
            track: track.to_owned(),
            kind,
            name: "P0".to_owned(),
            asleep_in: None,
            begin,
            end,
        };
        let bars = [
            bar("M10", Kind::WentOn, 10.0, 20.0),
            bar("M2", Kind::Held, 0.0, 10.0),
            bar("P0", Kind::Ran, 1.0, 1.0),
            bar("ticks on gmp", Kind::Tick, 5.0, 5.0),
            bar("M10", Kind::Held, 0.0, 10.0),
        ];
        assert_eq!(tracks(&bars), ["ticks on gmp", "P0", "M2", "M10"]);
        let svg = stall(&bars).into_string();
        assert_eq!((svg.matches("<rect").count(), svg.matches(">goes on<").count()), (4, 1), "{svg}");
        assert!(svg.contains(">20 ms<") && !svg.contains("NaN"), "{svg}");
    }
}
