//! The table, and the faults that the counts show.

use gmp_micro::paths::TIMER_EXPIRY;

use crate::callgrind::Counts;
use crate::figures::Figures;
use crate::machine::Machine;
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

/// The reason why nothing is checked: figures of another machine are not valid on this one.
pub(crate) fn why_unchecked(figures: &Figures, here: &Machine) -> Option<String> {
    let there = &figures.machine;
    (there != here).then(|| format!("nothing is checked: the figures are those of {there}, and this is {here}"))
}

/// Prints the faults on stderr. Returns whether the figures hold.
pub(crate) fn judge(counts: &Counts, figures: &Figures, is_everything: bool) -> bool {
    let counted = counts.iter().filter(|(subject, _)| subject.is_gmp() && subject.path != TIMER_EXPIRY);
    let verdicts: Vec<_> = counted.map(|(&subject, &count)| (subject, verdict(count, figures, &subject))).collect();
    verdicts.iter().filter_map(|(subject, verdict)| verdict.complaint(subject)).for_each(|it| eprintln!("{it}"));
    let left_over = if is_everything { figures.left_over(counts) } else { Vec::new() };
    left_over
        .iter()
        .for_each(|name| eprintln!("{name}: instructions.toml has a figure of it, and there is no such path"));
    left_over.is_empty() && verdicts.iter().all(|(_, verdict)| verdict.passes())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Holds,
    Unknown { count: u64 },
    Above { count: u64, most: u64 },
    WellBelow { count: u64, figure: u64 },
}

fn verdict(count: u64, figures: &Figures, subject: &Subject) -> Verdict {
    let Some(figure) = figures.get(subject) else { return Verdict::Unknown { count } };
    let margin = figure * figures.margin_percent / 100;
    let most = figure + margin;
    if count > most {
        Verdict::Above { count, most }
    } else if count < figure - margin {
        Verdict::WellBelow { count, figure }
    } else {
        Verdict::Holds
    }
}

impl Verdict {
    fn passes(self) -> bool {
        matches!(self, Verdict::Holds | Verdict::WellBelow { .. })
    }

    fn complaint(self, subject: &Subject) -> Option<String> {
        let text = match self {
            Verdict::Holds => return None,
            Verdict::Unknown { count } => format!("{count} instructions, and no figure: take it over with --update"),
            Verdict::Above { count, most } => {
                format!(
                    "{count} instructions, at most {most} are allowed; if that is what they are worth, use --update"
                )
            }
            Verdict::WellBelow { count, figure } => {
                format!("{count} instructions, well below {figure}: keep what was won with --update")
            }
        };
        Some(format!("{subject}: {text}"))
    }
}

fn change(count: u64, figure: u64) -> f64 {
    (count as f64 / figure as f64 - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::figures;

    fn counts<const N: usize>(counts: [(&str, u64); N]) -> Counts {
        let subject =
            |path| Subject::named("gmp", "one_worker", path).or(Subject::named("gmp", "current_thread", path));
        counts.map(|(path, count)| (subject(path).unwrap(), count)).into()
    }

    fn verdict_of(path: &str, count: u64) -> Verdict {
        let counts = counts([(path, count)]);
        let (subject, _) = counts.first_key_value().unwrap();
        verdict(count, &figures(), subject)
    }

    #[test]
    fn figures_of_another_machine_are_not_checked_and_both_are_named() {
        let mut here = figures().machine;
        assert_eq!(why_unchecked(&figures(), &here), None);
        here = toml::from_str("arch = \"x86_64\"\nlibc = \"glibc 2.41\"").unwrap();
        let why = why_unchecked(&figures(), &here).unwrap();
        assert!(why.contains("of x86_64 with glibc 2.36, and this is x86_64 with glibc 2.41"), "{why}");
    }

    #[test]
    fn a_count_holds_up_to_the_margin_and_at_it() {
        assert_eq!([950, 1000, 1050].map(|count| verdict_of("spawn", count)), [Verdict::Holds; 3]);
    }

    #[test]
    fn a_count_above_the_margin_fails_and_names_what_is_allowed() {
        let verdict = verdict_of("spawn", 1051);
        assert_eq!(verdict, Verdict::Above { count: 1051, most: 1050 });
        assert!(!judge(&counts([("spawn", 1051)]), &figures(), true));
    }

    #[test]
    fn a_count_below_the_margin_passes_and_is_reported() {
        let verdict = verdict_of("spawn", 949);
        assert_eq!(verdict, Verdict::WellBelow { count: 949, figure: 1000 });
        let counts = counts([("spawn", 949)]);
        assert!(verdict.complaint(counts.first_key_value().unwrap().0).unwrap().contains("949 instructions"));
        assert!(judge(&counts, &figures(), true));
    }

    #[test]
    fn a_path_without_a_figure_fails() {
        assert_eq!(verdict_of("wake", 7), Verdict::Unknown { count: 7 });
        assert!(!judge(&counts([("spawn", 1000), ("wake", 7)]), &figures(), true));
    }

    #[test]
    fn a_figure_without_a_path_fails_unless_paths_were_left_out() {
        let mut figures = figures();
        figures.set(&counts([("wake", 7)]));
        let counts = counts([("spawn", 1000)]);
        assert_eq!(figures.left_over(&counts), ["one_worker wake"]);
        assert!(!judge(&counts, &figures, true));
        assert!(judge(&counts, &figures, false));
    }

    #[test]
    fn a_path_that_takes_real_time_is_not_judged() {
        let mut figures = figures();
        figures.set(&counts([(TIMER_EXPIRY, 3000)]));
        assert!(judge(&counts([("spawn", 1000), (TIMER_EXPIRY, 9000)]), &figures, true));
    }
}
