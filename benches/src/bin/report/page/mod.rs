//! The page: one file without scripts that needs no network and reads as well on a telephone as on
//! a wide screen.

mod courses;
mod how;
mod html;
mod mix;
mod overview;
mod stall;
mod sysmon;
mod table;
mod ticker;

use gmp_benches::report::Line as Row;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::part::Part;
use crate::saved::Saved;
use crate::{doubts, plots};

const SHEET: &str = include_str!("../page.css");

/// The whole page.
pub(crate) fn html(saved: &Saved) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "gmp beside tokio" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                style { (PreEscaped(SHEET)) (PreEscaped(plots::SHEET)) }
            }
            body {
                h1 { "gmp beside tokio" }
                @for doubt in doubts::all(&saved.about) { p.warning { (doubt) } }
                (overview::body(saved))
                (ratios(saved)) (table(saved)) (mix(saved)) (ticker(saved)) (stall(saved)) (procs(saved)) (sysmon(saved))
                (long_run(saved))
                (section("how", "How it was measured", &how::body(&saved.about)))
            }
        }
    };
    page.into_string()
}

/// The bars in a file of its own.
pub(crate) fn svg(saved: &Saved) -> String {
    let tokio = saved.about_of(Part::Table).map_or(String::new(), |about| format!(" {}", about.tokio));
    let procs = saved.table.first().map_or(String::new(), |row| format!(", {} threads", row.procs));
    let what = format!("Cost of an operation, tokio{tokio} = 1{procs}; logarithmic, a bar to the left is faster");
    table::file(&saved.table, &["gmp beside tokio", &what])
}

fn ratios(saved: &Saved) -> Markup {
    let words = "What an operation costs as a multiple of what it costs on tokio, on a logarithmic axis: a bar to the left is \
                 a workload that is faster on gmp, a bar to the right one that is slower.";
    shown("ratios", "All workloads", words, "report --only table", &saved.table, table::bars)
}

fn table(saved: &Saved) -> Markup {
    let words = "The same in numbers, the losing rows too. \u{201c}Limit\u{201d} and \u{201c}aim\u{201d} were set before \
                 anything was measured: for the ratio, or for gmp's own value where a unit is given.";
    shown("table", "The table", words, "report --only table", &saved.table, table::full)
}

fn mix(saved: &Saved) -> Markup {
    let words = "An axum application is asked at a constant rate; where 5 % of the requests compute, that of the first table \
                 keeps the machine half busy. Shown are the \
                 latencies of the requests whose handlers do not hold their thread, from the moment at which they were due. \
                 \u{201c}No sysmon\u{201d} is gmp without its monitor thread, which finds those that are held.";
    shown("mix", "HTTP beside handlers that hold their thread", words, "report --only mix", &saved.mix, mix::body)
}

fn ticker(saved: &Saved) -> Markup {
    let words = "A task sleeps 1 ms again and again while other tasks hold their thread for 50 ms at a time: how late does it \
                 wake up? A plain thread that does the same shows what the machine itself costs.";
    let title = "A ticker beside tasks that hold their thread";
    shown("ticker", title, words, "report --only ticker", &saved.ticker, ticker::body)
}

fn stall(saved: &Saved) -> Markup {
    let words = "Two tasks block both workers for 40 ms beside a task that ticks every millisecond: on tokio, and on gmp with a \
                 recorder. P0 and P1 are gmp's processors, with what ran there; M1, M2, ... are its threads, with the \
                 processors that they held (grey) and the polls that went on without one. A pointer that rests on a bar \
                 shows what it is.";
    let title = "A stall of the kind that tokio\u{2019}s users know, recorded";
    shown("stall", title, words, "report --only stall", &saved.stall, stall::body)
}

fn procs(saved: &Saved) -> Markup {
    let words = "The scheduler's workloads with more and more Ps (gmp) and workers (tokio). Many more of them than cores \
                 should cost little.";
    let body = |rows: &[Row]| {
        let cores = saved.about_of(Part::Procs).and_then(|about| about.cores);
        let most = rows.iter().map(|row| row.procs).max().unwrap_or_default();
        let at_most: Vec<Row> = rows.iter().filter(|row| row.procs == most).cloned().collect();
        html! {
            (courses::sweep(rows, cores))
            h3 { "With " (most) " Ps" }
            (table::bars(&at_most))
        }
    };
    shown("procs", "Cost against the number of Ps", words, "report --only procs", &saved.procs, body)
}

fn sysmon(saved: &Saved) -> Markup {
    let words = "The thread that finds stuck machines is the price of the promise. It must not be seen in the scheduler's \
                 rows, and must sleep when there is nothing to find.";
    shown("sysmon", "What the monitor thread costs", words, "report --only sysmon", &saved.sysmon, sysmon::body)
}

fn long_run(saved: &Saved) -> Markup {
    let words = "The same application under the same load for a long time: nothing may drift.";
    let command = "http_mix --minutes 60 --json DIR/minutes.jsonl";
    shown("minutes", "A long run", words, command, &saved.minutes, courses::minutes)
}

/// The first row of each kind, in the order of the rows.
fn firsts<T>(rows: &[T], is_same_kind: impl Fn(&T, &T) -> bool) -> Vec<&T> {
    let is_first = |(place, row): &(usize, &T)| !rows[..*place].iter().any(|other| is_same_kind(other, row));
    rows.iter().enumerate().filter(is_first).map(|(_, row)| row).collect()
}

/// A section. If it has no results, it says how to measure them.
fn shown<T>(id: &str, title: &str, words: &str, command: &str, rows: &[T], body: impl Fn(&[T]) -> Markup) -> Markup {
    let body = html! {
        p { (words) }
        @if rows.is_empty() { p.missing { "Not measured yet: " code { (command) } " does." } } @else { (body(rows)) }
    };
    section(id, title, &body)
}

fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! { section id=(id) { h2 { (title) } (body) } }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::table::tests::scheduler;
    use super::*;
    use crate::about::About;

    #[test]
    fn the_drawing_of_the_table_names_the_tokio_of_the_table_and_no_limits() {
        let about = |part, tokio: &str| (part, About { tokio: tokio.to_owned(), ..About::default() });
        let about = vec![about(Part::Mix, "1.2.3"), about(Part::Table, "4.5.6")];
        let svg = svg(&Saved { table: scheduler(), about, ..Saved::default() });
        assert!(svg.contains("tokio 4.5.6") && !svg.contains("1.2.3") && !svg.contains(">limit<"), "{svg}");
    }

    #[test]
    fn a_page_without_results_says_how_to_get_them() {
        let page = html(&Saved::default());
        for part in Part::value_variants() {
            assert!(page.contains(&format!("<code>report --only {}</code>", part.name())), "{page}");
        }
    }

    #[test]
    fn a_page_needs_nothing_but_itself_and_doubts_stand_before_the_first_figure() {
        let about = vec![(Part::Table, About { others_before: Some(1.5), ..About::default() })];
        let page = html(&Saved { table: scheduler(), procs: scheduler(), about, ..Saved::default() });
        assert!(page.contains("<svg"));
        assert!(!["<script", "<link", "@import", "url(", "src=", "http:", "https:"].iter().any(|it| page.contains(it)));
        let places =
            ["<h1>", "<p class=\"warning\">The machine was not quiet", "<ul class=\"facts\">"].map(|it| page.find(it));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
    }
}
