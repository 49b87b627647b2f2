//! What gmp's monitor thread costs.

use gmp_benches::plots::quantity;

use super::html::{Line, table};
use crate::saved::Sysmon;

/// A table of workloads, and one of idle runtimes.
pub(crate) fn body(lines: &[Sysmon]) -> String {
    let rows = table(&["workload", "with", "without", "ratio", "±", "pairs"], lines.iter().filter_map(row));
    let idle = table(&["idle runtime", "context switches", "in"], lines.iter().filter_map(idle));
    [rows, idle].concat()
}

fn row(line: &Sysmon) -> Option<Line> {
    let Sysmon::Row { workload, unit, on, off, ratio, error, pairs } = line else {
        return None;
    };
    // A percent is what it is about: two digits would round it away.
    let [ratio, error] = [Some(*ratio), *error]
        .map(|value| value.filter(|value| value.is_finite()).map_or("–".to_owned(), |value| format!("{value:.3}")));
    let [on, off] = [on, off].map(|value| quantity(*value, unit));
    Some(Line::Cells(vec![workload.clone(), on, off, ratio, error, pairs.to_string()]))
}

fn idle(line: &Sysmon) -> Option<Line> {
    let Sysmon::Idle { idle, switches, seconds } = line else {
        return None;
    };
    Some(Line::Cells(vec![idle.clone(), switches.to_string(), format!("{seconds} s")]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_can_be_seen() {
        let line = r#"{"workload":"ring_500","unit":"ns/op","on":202.0,"off":200.0,"ratio":1.012,"error":0.004,"pairs":55,"procs":2}"#;
        let idle = r#"{"idle":"gmp","unit":"switches","switches":0,"seconds":10,"procs":2}"#;
        let html = body(&[line, idle].map(|line| serde_json::from_str(line).unwrap()));
        assert!(html.contains(">1.012<") && html.contains(">0.004<") && html.contains(">10 s<"), "{html}");
    }
}
