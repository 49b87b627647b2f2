//! The facts for a reader who reads nothing else, the bad as well as the good.

use gmp_benches::report::{Line as Row, Mix, quantity, ratio};
use gmp_benches::side::Side;
use maud::{Markup, html};

use crate::saved::Saved;

/// A few numbers, and the rows in which gmp loses.
pub(crate) fn body(saved: &Saved) -> Markup {
    let rows = &saved.table;
    let names = |losing: fn(&Row) -> bool| -> Vec<String> {
        rows.iter().filter(|row| losing(row)).map(|row| format!("{} ({})", row.workload, ratio(row.ratio()))).collect()
    };
    let slower = names(|row| row.ratio() > 1.0);
    let missed = names(|row| row.met() == Some("MISSED"));
    let goals = rows.iter().filter(|row| row.met().is_some()).count();
    html! {
        ul.facts {
            @if let Some(mean) = Row::mean(rows) {
                li { strong { (ratio(mean.ratio)) } " of tokio's time: the geometric mean of the scheduler's rows" }
            }
            @if !rows.is_empty() {
                li { strong { (rows.len() - slower.len()) " of " (rows.len()) } " workloads cost no more than on tokio" }
                li { strong { (goals - missed.len()) " of " (goals) } " limits that were set beforehand are kept" }
            }
            @if let Some((rate, gmp, tokio)) = promise(&saved.mix) {
                li {
                    strong { (quantity(gmp, "ms")) }
                    " p99 of " (rate) " HTTP requests a second while 5 % of the handlers block ("
                    (quantity(tokio, "ms")) " on tokio)"
                }
            }
        }
        @for (what, names) in [("More expensive than on tokio", slower), ("Limit missed", missed)] {
            @if !names.is_empty() { p { (what) ": " (names.join(", ")) "." } }
        }
    }
}

/// The requests per second at which 5 % of the handlers block, and the p99 of the other requests on
/// both sides. Takes the lowest rate, at which tokio has enough workers: without enough workers its
/// latencies grow for as long as the measurement lasts.
fn promise(rows: &[Mix]) -> Option<(u64, f64, f64)> {
    let blocking = || rows.iter().filter(|row| row.variant == "block" && !row.shared && !row.fresh);
    let rate = blocking().map(|row| row.rate).min()?;
    let p99 = |side| blocking().find(|row| row.rate == rate && row.side == side).map(|row| row.p99);
    Some((rate, p99(Side::Gmp)?, p99(Side::Tokio)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::scheduler;

    #[test]
    fn a_row_that_loses_is_named_at_the_top() {
        let mut rows = scheduler();
        (rows[3].gmp, rows[0].gmp) = (120.0, 90.0);
        let html = body(&Saved { table: rows, ..Saved::default() }).into_string();
        assert!(html.contains("More expensive than on tokio: yield_many (1.20)."), "{html}");
        assert!(html.contains("Limit missed: spawn_local (0.90), yield_many (1.20)."), "{html}");
        assert!(html.contains("8 of 9"), "{html}");
    }

    #[test]
    fn the_promise_is_told_of_the_rate_that_tokio_can_keep_up_with_if_both_sides_are_there() {
        let row = |rate, side, p99| Mix { rate, side, p99, variant: "block".to_owned(), ..Mix::default() };
        let both = |rate, p99| [Side::Gmp, Side::Tokio].map(|side| row(rate, side, p99));
        assert_eq!(promise(&both(900, 1500.0)[..1]), None);
        assert_eq!(promise(&[both(900, 1500.0), both(200, 80.0)].concat()), Some((200, 80.0, 80.0)));
    }
}
