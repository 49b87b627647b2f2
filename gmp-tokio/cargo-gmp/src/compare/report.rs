//! Prints both sides in one table, and their differences.

use std::time::Duration;

use super::Side;

/// The limit of differing lines that are shown.
const SHOWN: usize = 10;

/// Prints the report. Returns whether exit codes and tests are the same on both.
pub(crate) fn print(tokio: &Side, gmp: &Side) -> bool {
    let (text, is_same) = text(tokio, gmp);
    print!("{text}");
    is_same
}

fn text(tokio: &Side, gmp: &Side) -> (String, bool) {
    let rows = rows(tokio).into_iter().zip(rows(gmp));
    let table = rows.map(|((name, tokio), (_, gmp))| format!("{name:<22}{tokio:>14}{gmp:>14}\n")).collect::<String>();
    let differences = tokio.outcomes.differences(&gmp.outcomes);
    let lines = differences.iter().map(|(test, tokio, gmp)| format!("{test}: {tokio} on tokio, {gmp} on gmp\n"));
    let mut text = format!("{:<22}{:>14}{:>14}\n{table}{}", "", "tokio", "gmp", lines.collect::<String>());
    for (name, (tokio, gmp)) in ["output", "error output"].iter().zip(tokio.output.iter().zip(&gmp.output)) {
        text += &output(name, tokio, gmp);
    }
    (text, differences.is_empty() && tokio.figures.exit_code == gmp.figures.exit_code)
}

fn rows(side: &Side) -> Vec<(&'static str, String)> {
    let figures = &side.figures;
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut rows = vec![("exit code", figures.exit_code.clone())];
    for (name, outcome) in [("tests passed", "ok"), ("tests failed", "FAILED"), ("tests ignored", "ignored")] {
        rows.push((name, side.outcomes.count(outcome).to_string()));
    }
    if side.outcomes.is_empty() {
        rows.truncate(1);
    }
    if let Some(latencies) = &side.latencies {
        let ms = |time: Option<Duration>| known(time.map(|time| format!("{:.2} ms", time.as_secs_f64() * 1e3)));
        rows.push(("requests answered", latencies.answered().to_string()));
        rows.push(("requests failed", latencies.errors.to_string()));
        rows.push(("p50", ms(latencies.quantile(0.5))));
        rows.push(("p99", ms(latencies.quantile(0.99))));
        rows.push(("max", ms(latencies.quantile(1.0))));
    }
    rows.push(("wall time", seconds(figures.wall)));
    rows.push(("CPU time", known(figures.cpu.map(seconds))));
    rows.push(("peak memory", known(figures.memory.map(|kib| format!("{:.1} MiB", kib as f64 / 1024.0)))));
    rows.push(("most threads", known(figures.threads.map(|count| count.to_string()))));
    rows
}

/// One line if both outputs are the same, and nothing if both are empty.
fn output(name: &str, tokio: &str, gmp: &str) -> String {
    if tokio == gmp {
        return if tokio.is_empty() { String::new() } else { format!("the {name} is the same\n") };
    }
    let (tokio, gmp): (Vec<_>, Vec<_>) = (tokio.lines().collect(), gmp.lines().collect());
    let mut text = format!("the {name} differs:\n");
    let at = |lines: &[&str], at: usize| lines.get(at).map_or("(nothing)".to_owned(), |line| format!("{line:?}"));
    let different: Vec<_> = (0..tokio.len().max(gmp.len())).filter(|&line| tokio.get(line) != gmp.get(line)).collect();
    for &line in different.iter().take(SHOWN) {
        text += &format!("  line {}\n    tokio {}\n    gmp   {}\n", line + 1, at(&tokio, line), at(&gmp, line));
    }
    if different.is_empty() {
        text += "  in how its last line ends\n";
    } else if different.len() > SHOWN {
        text += &format!("  and {} more lines\n", different.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_differs_is_shown_where_it_does() {
        assert_eq!(output("output", "", ""), "");
        assert_eq!(output("output", "a\n", "a\n"), "the output is the same\n");
        let expected = "the output differs:\n  line 2\n    tokio \"b\"\n    gmp   \"c\"\n  line 3\n    tokio (nothing)\n    gmp   \"d\"\n";
        assert_eq!(output("output", "a\nb\n", "a\nc\nd\n"), expected);
        assert_eq!(output("output", "a\n", "a"), "the output differs:\n  in how its last line ends\n");
        let (one, other) = ("a\n".repeat(12), "b\n".repeat(12));
        assert!(output("output", &one, &other).ends_with("  and 2 more lines\n"));
    }
}
