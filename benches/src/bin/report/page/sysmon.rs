//! The cost of gmp's monitor thread.

use gmp_benches::sysmon_cost::{Idle, Row, Sysmon};
use maud::{Markup, html};

use super::html::table;

/// A table of workloads, and one of idle runtimes.
pub(crate) fn body(lines: &[Sysmon]) -> Markup {
    let (mut rows, mut idle) = (Vec::new(), Vec::new());
    for line in lines {
        match line {
            Sysmon::Row(row) => rows.push(row),
            Sysmon::Idle(runtime) => idle.push(runtime),
        }
    }
    html! {
        (table(&Row::COLUMNS, &[("", rows)], |row| row.met() == "MISSED"))
        (table(&Idle::COLUMNS, &[("", idle)], |row| row.met() == Some("MISSED")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wanted_is_said_in_the_words_of_the_program_and_a_percent_can_be_seen() {
        let row = |ratio| {
            format!(
                r#"{{"workload":"w","unit":"ns/op","on":1,"off":1,"ratio":{ratio},"error":0.01,"pairs":5,"procs":2}}"#
            )
        };
        let idle = |idle| format!(r#"{{"idle":"{idle}","unit":"switches","switches":3,"seconds":10,"procs":2}}"#);
        let lines = [row("1.0"), row("1.015"), row("1.03"), idle("gmp"), idle("tokio")];
        let html = body(&lines.map(|line| serde_json::from_str(&line).unwrap())).into_string();
        let count = |cell: &str| html.matches(&format!(">{cell}</td>")).count();
        assert_eq!([">yes", ">can", ">1.015<"].map(|met| html.matches(met).count()), [1; 3]);
        assert_eq!([count("1.01"), count("MISSED"), html.matches("class=\"bad\"").count()], [3, 2, 2], "{html}");
    }
}
