//! The table, and the faults that the counts show.

use gmp_micro::paths::TIMER_EXPIRY;

use crate::callgrind::Counts;
use crate::console;
use crate::figures::{Figures, Machine};
use crate::subject::Subject;

/// Prints the counts beside the figures, and tokio's if they were counted.
pub(crate) fn print(counts: &Counts, figures: &Figures) {
    println!(
        "{:<30}{:>8}{:>8}{:>9}{:>8}{:>7}",
        "instructions per operation", "gmp", "figure", "change", "tokio", "ratio"
    );
    for (subject, &count) in counts.iter().filter(|(subject, _)| subject.is_gmp()) {
        let name = format!("{} {}", subject.flavor.name(), subject.path);
        let figure = figures.get(subject).map_or(String::new(), |figure| figure.to_string());
        let change = figures.get(subject).map_or(String::new(), |figure| format!("{:+.1} %", change(count, figure)));
        print!("{name:<30}{count:>8}{figure:>8}{change:>9}");
        if let Some(tokio) = counts.get(&subject.on_tokio()) {
            print!("{tokio:>8}{:>7.2}", count as f64 / *tokio as f64);
        }
        println!();
    }
}

/// The reason why nothing is checked: figures of another machine, or another build, are not valid
/// here.
pub(crate) fn why_unchecked(figures: &Figures, here: &Machine) -> Option<String> {
    if console::IS_TRACED {
        return Some("nothing is checked: the figures are those without the feature `tracing`".to_owned());
    }
    let there = &figures.machine;
    (there != here).then(|| format!("nothing is checked: the figures are those of {there}, and this is {here}"))
}

/// Prints the faults on stderr. Returns whether the figures hold.
pub(crate) fn judge(counts: &Counts, figures: &Figures, is_everything: bool) -> bool {
    let mut hold = true;
    for (subject, &count) in counts.iter().filter(|(subject, _)| subject.is_gmp() && subject.path != TIMER_EXPIRY) {
        let verdict = verdict(count, figures, subject);
        hold &= verdict.is_ok();
        verdict.unwrap_or_else(Some).into_iter().for_each(|text| eprintln!("{subject}: {text}"));
    }
    for name in figures.left_over(counts).iter().filter(|_| is_everything) {
        eprintln!("{name}: instructions.toml has a figure of it, and there is no such path");
        hold = false;
    }
    hold
}

/// What there is to say about a count; an error if it doesn't pass.
fn verdict(count: u64, figures: &Figures, subject: &Subject) -> Result<Option<String>, String> {
    let Some(figure) = figures.get(subject) else {
        return Err(format!("{count} instructions, and no figure: take it over with --update"));
    };
    let margin = figure * figures.margin_percent / 100;
    let most = figure + margin;
    if count > most {
        let allowed = format!("at most {most} are allowed; if that is what they are worth, use --update");
        return Err(format!("{count} instructions, {allowed}"));
    }
    let won = count < figure - margin;
    Ok(won.then(|| format!("{count} instructions, well below {figure}: keep what was won with --update")))
}

fn change(count: u64, figure: u64) -> f64 {
    (count as f64 / figure as f64 - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::figures;

    fn counts<const N: usize>(counts: [(&str, u64); N]) -> Counts {
        let subject = |path| Subject::all().into_iter().rev().find(|it| it.is_gmp() && it.path == path);
        counts.map(|(path, count)| (subject(path).unwrap(), count)).into()
    }

    #[test]
    fn a_count_above_the_margin_fails_and_one_below_it_passes_and_both_are_reported() {
        let figures = figures(&counts([("spawn", 1000)]));
        for (path, count, passes, complaint) in [
            ("spawn", 950, true, None),
            ("spawn", 1050, true, None),
            ("spawn", 1051, false, Some("1051 instructions, at most 1050 are allowed")),
            ("spawn", 949, true, Some("949 instructions, well below 1000")),
            ("wake", 7, false, Some("7 instructions, and no figure")),
        ] {
            let counts = counts([(path, count)]);
            let verdict = verdict(count, &figures, counts.first_key_value().unwrap().0);
            assert_eq!([verdict.is_ok(), judge(&counts, &figures, false)], [passes; 2], "{count}");
            let said = verdict.unwrap_or_else(Some).unwrap_or_default();
            assert!(
                said.starts_with(complaint.unwrap_or_default()) && said.is_empty() == complaint.is_none(),
                "{said}"
            );
        }
    }

    #[test]
    fn a_figure_without_a_path_fails_unless_paths_were_left_out_and_real_time_is_not_judged() {
        let figures = figures(&counts([("spawn", 1000), ("wake", 7), (TIMER_EXPIRY, 3000)]));
        let mut counts = counts([("spawn", 1000), (TIMER_EXPIRY, 9000)]);
        assert_eq!(figures.left_over(&counts), ["one_worker wake"]);
        assert_eq!([true, false].map(|is_everything| judge(&counts, &figures, is_everything)), [false, true]);
        counts.extend(self::counts([("wake", 7)]));
        assert!(judge(&counts, &figures, true));
    }
}
