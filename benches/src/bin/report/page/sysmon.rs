//! The cost of gmp's monitor thread.

use gmp_benches::report::or_dash;
use gmp_benches::sysmon_cost::{LIMIT, Sysmon, idle_limit, met};
use maud::{Markup, html};

use super::html::{Line, table};
use crate::plots::quantity;

/// A table of workloads, and one of idle runtimes.
pub(crate) fn body(lines: &[Sysmon]) -> Markup {
    let head = ["workload", "with", "without", "ratio", "±", "pairs", "limit", "met"];
    let rows = table(&head, lines.iter().filter_map(row));
    let head = ["idle runtime", "context switches", "in", "limit", "met"];
    let idle = table(&head, lines.iter().filter_map(idle));
    html! { (rows) (idle) }
}

fn row(line: &Sysmon) -> Option<Line> {
    let Sysmon::Row { workload, unit, on, off, ratio, error, pairs, .. } = line else {
        return None;
    };
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    let met = known(*ratio).map(|ratio| met(ratio, error.and_then(known).unwrap_or_default()));
    // The difference is about a percent: two digits would round it away.
    let [ratio, error] = [Some(*ratio), *error].map(|it| or_dash(it.and_then(known).map(|it| format!("{it:.3}"))));
    let [on, off] = [on, off].map(|value| quantity(*value, unit));
    let cells = vec![workload.clone(), on, off, ratio, error, pairs.to_string(), format!("{LIMIT:.2}"), or_dash(met)];
    Some(Line::new(cells, met == Some("MISSED")))
}

fn idle(line: &Sysmon) -> Option<Line> {
    let Sysmon::Idle { idle, switches, seconds, .. } = line else {
        return None;
    };
    let (limit, met) = idle_limit(idle, *switches).unzip();
    let cells = vec![idle.clone(), switches.to_string(), format!("{seconds} s"), or_dash(limit), or_dash(met)];
    Some(Line::new(cells, met == Some("MISSED")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_can_be_seen() {
        let line = r#"{"workload":"ring_500","unit":"ns/op","on":202.0,"off":200.0,"ratio":1.012,"error":0.004,"pairs":55,"procs":2}"#;
        let idle = r#"{"idle":"gmp","unit":"switches","switches":0,"seconds":10,"procs":2}"#;
        let html = body(&[line, idle].map(|line| serde_json::from_str(line).unwrap())).into_string();
        assert!(html.contains(">1.012<") && html.contains(">0.004<") && html.contains(">10 s<"), "{html}");
    }

    #[test]
    fn what_was_wanted_is_said_in_the_words_of_the_program() {
        let row = |ratio| {
            format!(r#"{{"workload":"w","unit":"ns/op","on":1,"off":1,"ratio":{ratio},"error":0.01,"pairs":5}}"#)
        };
        let idle = |idle| format!(r#"{{"idle":"{idle}","switches":3,"seconds":10}}"#);
        let lines = [row("1.0"), row("1.015"), row("1.03"), row("null"), idle("gmp"), idle("tokio")];
        let html = body(&lines.map(|line| serde_json::from_str(&line).unwrap())).into_string();
        let count = |cell: &str| html.matches(&format!(">{cell}</td>")).count();
        assert_eq!([">yes", ">can"].map(|met| html.matches(met).count()), [1, 1]);
        assert_eq!([count("1.01"), count("MISSED"), html.matches("class=\"bad\"").count()], [4, 2, 2], "{html}");
    }
}
