//! The page: one file without scripts that needs no network and reads as well on a telephone as on
//! a wide screen. It shows the plots, and below them what the programs have printed.

use askama::Template;
use gmp_benches::report::{Line as Row, Mix, Side, Ticker, grouped, ratio};
use maud::{Markup, html};

use crate::about;
use crate::part::Part;
use crate::plots::{self, Line, distribution, distributions, panels, procs, ratios};
use crate::saved::Saved;

const SHEET: &str = include_str!("page.css");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    saved: &'a Saved,
}

pub(crate) fn html(saved: &Saved) -> Result<String, askama::Error> {
    Page { saved }.render()
}

pub(crate) fn svg(saved: &Saved) -> String {
    let tokio = saved.about_of(Part::Table).map_or(String::new(), |about| format!(" {}", about.tokio));
    let procs = saved.table.first().map_or(String::new(), |row| format!(", {} threads", row.procs));
    let what = format!("Cost of an operation, tokio{tokio} = 1{procs}; logarithmic, a bar to the left is faster");
    ratios::file(&saved.table, ["gmp beside tokio", &what])
}

/// The rows in which gmp loses, for a reader who reads nothing else.
fn losses(rows: &[Row]) -> impl Iterator<Item = (&'static str, String)> {
    let names = |is_loss: fn(&Row) -> bool| {
        let losses = rows.iter().filter(|row| is_loss(row));
        losses.map(|row| format!("{} ({})", row.workload, ratio(row.ratio()))).collect::<Vec<_>>().join(", ")
    };
    let slower = ("More expensive than on tokio", names(|row| row.ratio() > 1.0));
    let missed = ("Limit missed", names(|row| row.met() == Some("MISSED")));
    [slower, missed].into_iter().filter(|(_, names)| !names.is_empty())
}

/// What the programs of a part have printed, or how to measure it.
fn printed(saved: &Saved, part: Part) -> Markup {
    match saved.texts.iter().find(|(of, _)| *of == part) {
        Some((_, text)) => html! { pre { (text) } },
        None => html! { p.missing { "Not measured yet: " code { "report --only " (part.name()) } " does." } },
    }
}

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

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::about::About;
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
        let page = html(&Saved::default()).unwrap();
        for part in Part::value_variants() {
            assert!(page.contains(&format!("<code>report --only {}</code>", part.name())), "{page}");
        }
    }

    #[test]
    fn a_page_needs_nothing_but_itself_and_doubts_and_losses_stand_before_the_first_figure() {
        let mut table = scheduler();
        table.iter_mut().for_each(|row| row.gmp = 30.0);
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
        let page = html(&saved).unwrap();
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
