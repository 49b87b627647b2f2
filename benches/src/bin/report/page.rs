//! The page: one file without scripts that needs no network and reads as well on a telephone as on
//! a wide screen. It shows the plots, and below them what the programs have printed.

use gmp_benches::report::{Line as Row, Mix, Ticker, grouped, ratio};
use gmp_benches::side::Side;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::about::{About, doubts};
use crate::part::Part;
use crate::plots::{self, Line, distribution, distributions, panels, procs, ratios};
use crate::saved::Saved;

const SHEET: &str = include_str!("page.css");

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
                @for doubt in doubts(&saved.about) { p.warning { (doubt) } }
                (losses(&saved.table))
                @for (part, title, words, draw) in SECTIONS { (section(saved, part, title, words, draw)) }
                section { h2 { "How it was measured" } @for (part, about) in &saved.about { (how(*part, about)) } }
            }
        }
    };
    page.into_string()
}

pub(crate) fn svg(saved: &Saved) -> String {
    let tokio = saved.about_of(Part::Table).map_or(String::new(), |about| format!(" {}", about.tokio));
    let procs = saved.table.first().map_or(String::new(), |row| format!(", {} threads", row.procs));
    let what = format!("Cost of an operation, tokio{tokio} = 1{procs}; logarithmic, a bar to the left is faster");
    ratios::file(&saved.table, ["gmp beside tokio", &what])
}

/// The rows in which gmp loses, for a reader who reads nothing else.
fn losses(rows: &[Row]) -> Markup {
    let names = |is_loss: fn(&Row) -> bool| {
        let losses = rows.iter().filter(|row| is_loss(row));
        losses.map(|row| format!("{} ({})", row.workload, ratio(row.ratio()))).collect::<Vec<_>>().join(", ")
    };
    let slower = ("More expensive than on tokio", names(|row| row.ratio() > 1.0));
    let missed = ("Limit missed", names(|row| row.met() == Some("MISSED")));
    html! { @for (what, names) in [slower, missed] { @if !names.is_empty() { p { (what) ": " (names) "." } } } }
}

/// What a part's section shows: its title, how to read it, and the plots.
type Section = (Part, &'static str, &'static str, fn(&Saved) -> Markup);

const SECTIONS: [Section; 6] = [
    (
        Part::Table,
        "All workloads",
        "What an operation costs as a multiple of what it costs on tokio, on a logarithmic axis: a bar to the left is \
         a workload that is faster on gmp, a bar to the right one that is slower. Limits and aims were set before \
         anything was measured.",
        |saved| ratios::bars(&saved.table),
    ),
    (
        Part::Mix,
        "HTTP beside handlers that hold their thread",
        "An axum application is asked at a constant rate; where 5 % of the requests compute, that of the first table \
         keeps the machine half busy. Shown are the latencies of the requests whose handlers do not hold their \
         thread, from the moment at which they were due, whether or not they could be sent then. \u{201c}No \
         sysmon\u{201d} is gmp without its monitor thread, which finds those that are held.",
        |saved| mix(&saved.mix),
    ),
    (
        Part::Ticker,
        "A ticker beside tasks that hold their thread",
        "A task sleeps 1 ms again and again while other tasks hold their thread for 50 ms at a time: how late does it \
         wake up? A plain thread that does the same shows what the machine itself costs. A stall is one late tick, \
         however long: look at the maximum, too.",
        |saved| ticker(&saved.ticker),
    ),
    (
        Part::Stall,
        "A stall of the kind that tokio\u{2019}s users know, recorded",
        "Two tasks block both workers for 40 ms beside a task that ticks every millisecond: on tokio, and on gmp with a \
         recorder. P0 and P1 are gmp's processors, with what ran there; M1, M2, ... are its threads, with the \
         processors that they held (grey) and the polls that went on without one. A pointer that rests on a bar \
         shows what it is.",
        |saved| html! { @if !saved.stall.is_empty() { div.scroll { (plots::stall(&saved.stall)) } } },
    ),
    (
        Part::Procs,
        "Cost against the number of Ps",
        "The scheduler's workloads with more and more Ps (gmp) and workers (tokio). Many more of them than cores \
         should cost little.",
        sweep,
    ),
    (
        Part::Sysmon,
        "What the monitor thread costs",
        "The thread that finds stuck machines is the price of the promise. It must not be seen in the scheduler's \
         rows, and must sleep when there is nothing to find.",
        |_| html! {},
    ),
];

/// A section. If it has no results, it says how to measure them.
fn section(saved: &Saved, part: Part, title: &str, words: &str, draw: fn(&Saved) -> Markup) -> Markup {
    let text = saved.texts.iter().find(|(of, _)| *of == part);
    html! {
        section id=(part.name()) {
            h2 { (title) }
            p { (words) }
            (draw(saved))
            @if let Some((_, text)) = text { pre { (text) } } @else {
                p.missing { "Not measured yet: " code { "report --only " (part.name()) } " does." }
            }
        }
    }
}

/// For each load a panel per variant.
fn mix(rows: &[Mix]) -> Markup {
    html! {
        @for ((rate, shared, fresh), rows) in grouped(rows, |row| (row.rate, row.shared, row.fresh)) {
            p {
                (rate) " requests a second"
                @if shared { ", all over the same connections" }
                @if fresh { ", a new connection for every request" }
            }
            @let variants = grouped(rows, |row| row.variant.clone());
            (distributions(variants.into_iter().map(|(variant, rows)| {
                let title = match variant.as_str() {
                    "plain" => "No handler holds its thread",
                    "block" => "5 % block for 100 ms",
                    _ => "5 % compute for 20 ms",
                };
                let line = |row: &&Mix| distribution(row.side, row.requests, &row.curve);
                (title.to_owned(), rows.iter().map(line).collect())
            }), "latency"))
        }
    }
}

fn ticker(rows: &[Ticker]) -> Markup {
    let hogs = grouped(rows, |row| row.hogs.clone()).into_iter();
    let line = |row: &&Ticker| distribution(row.side, row.ticks, &row.curve);
    distributions(hogs.map(|(hogs, rows)| (hogs, rows.iter().map(line).collect())), "lateness")
}

/// Cost by number of Ps: one panel per workload, in the order of the rows.
fn sweep(saved: &Saved) -> Markup {
    let cores = saved.about_of(Part::Procs).map_or(0, |about| about.cores);
    let panel = |(workload, rows): (String, Vec<&Row>)| {
        let line = |side, value: fn(&Row) -> f64| Line {
            side,
            points: rows.iter().map(|row| (row.procs as f64, value(row))).collect(),
        };
        procs(&workload, &rows[0].unit, cores, &[line(Side::Gmp, |row| row.gmp), line(Side::Tokio, |row| row.tokio)])
    };
    panels(grouped(&saved.procs, |row| row.workload.clone()).into_iter().map(panel))
}

fn how(part: Part, about: &About) -> Markup {
    html! {
        h3 { (part.name()) ": " (about.day) " " (about.time) }
        p {
            "It took " (about.seconds) " s with gmp " (about.gmp) " and tokio " (about.tokio) ". "
            "Other programs kept " (format!("{:.2}", about.others_before)) " cores busy before. "
            (about.cores) " cores; " (about.others.join("; "))
        }
        pre { (about.commands.join("\n")) }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::plots::ratios::tests::scheduler;

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
    fn a_page_needs_nothing_but_itself_and_doubts_and_losses_stand_before_the_first_figure() {
        let mut table = scheduler();
        (table[3].gmp, table[0].gmp) = (120.0, 90.0);
        let mix = |rate, variant: &str| Mix { rate, variant: variant.to_owned(), ..Mix::default() };
        let saved = Saved {
            table,
            procs: scheduler(),
            mix: vec![mix(900, "plain"), mix(900, "block"), mix(200, "plain")],
            texts: vec![(Part::Sysmon, "as it was printed <".to_owned())],
            about: vec![(Part::Table, About { others_before: 1.5, ..About::default() })],
            ..Saved::default()
        };
        let page = html(&saved);
        assert!(!["<script", "<link", "@import", "url(", "src=", "http:", "https:"].iter().any(|it| page.contains(it)));
        let places = [
            "<p class=\"warning\">The machine was not quiet",
            "More expensive than on tokio: yield_many (1.20).",
            "Limit missed: spawn_local (0.90), yield_many (1.20).",
            "<svg",
        ];
        let places = places.map(|it| page.find(it));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
        let count = |text: &str| page.matches(text).count();
        assert_eq!([count("requests a second</p>"), count("No handler holds"), count("printed &lt;")], [2, 4, 1]);
    }
}
