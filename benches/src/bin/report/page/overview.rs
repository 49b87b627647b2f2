//! The facts for a reader who reads nothing else, the bad as well as the good.

use gmp_benches::report::{Line as Row, quantity, ratio};
use maud::{Markup, html};

use super::mix;
use crate::saved::Saved;

/// A few numbers, and the rows in which gmp loses.
pub(crate) fn body(saved: &Saved) -> Markup {
    let facts = facts(saved);
    html! {
        @if !facts.is_empty() {
            ul.facts { @for (number, words) in facts { li { strong { (number) } " " (words) } } }
        }
        (losses(&saved.table))
    }
}

/// Numbers and what they say.
fn facts(saved: &Saved) -> Vec<(String, String)> {
    let rows = &saved.table;
    let mut facts = Vec::new();
    let mut fact = |number: String, words: &str| facts.push((number, words.to_owned()));
    if let Some(mean) = Row::mean(rows) {
        fact(ratio(mean.ratio), "of tokio's time: the geometric mean of the scheduler's rows");
    }
    if !rows.is_empty() {
        let wins = rows.iter().filter(|row| row.ratio() < 1.0).count();
        fact(format!("{wins} of {}", rows.len()), "workloads cost less than on tokio");
    }
    let wanted: Vec<_> = rows.iter().filter_map(Row::met).collect();
    if !wanted.is_empty() {
        let met = wanted.iter().filter(|met| **met != "MISSED").count();
        fact(format!("{met} of {}", wanted.len()), "limits that were set beforehand are kept");
    }
    if let Some((rate, gmp, tokio)) = mix::promise(&saved.mix) {
        let tokio = quantity(tokio, "ms");
        let words = format!("p99 of {rate} HTTP requests a second while 5 % of the handlers block ({tokio} on tokio)");
        fact(quantity(gmp, "ms"), &words);
    }
    facts
}

fn losses(rows: &[Row]) -> Markup {
    let names = |losing: &dyn Fn(&Row) -> bool| -> String {
        let losing = rows.iter().filter(|row| losing(row));
        losing.map(|row| format!("{} ({})", row.workload, ratio(row.ratio()))).collect::<Vec<_>>().join(", ")
    };
    let slower = ("More expensive than on tokio", names(&|row| row.ratio() > 1.0));
    let missed = ("Limit missed", names(&|row| row.met() == Some("MISSED")));
    html! {
        @for (what, names) in [slower, missed] {
            @if !names.is_empty() { p { (what) ": " (names) "." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::scheduler;
    use super::*;

    #[test]
    fn a_row_that_loses_is_named_at_the_top() {
        let mut rows = scheduler();
        (rows[3].gmp, rows[0].gmp) = (120.0, 90.0);
        let html = body(&Saved { table: rows, ..Saved::default() }).into_string();
        assert!(html.contains("More expensive than on tokio: yield_many (1.20)."), "{html}");
        assert!(html.contains("Limit missed: spawn_local (0.90), yield_many (1.20)."), "{html}");
        assert!(html.contains("8 of 9"), "{html}");
    }
}
