//! The table, and what is wrong with it.

use crate::{callgrind::Counts, figures::Figures, subject::Subject};

/// Prints what was counted beside the figures, and tokio's if that was counted.
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

/// Says what is wrong, on stderr. Whether the figures hold.
pub(crate) fn judge(counts: &Counts, figures: &Figures, is_everything: bool) -> bool {
    let counted = counts.iter().filter(|(subject, _)| subject.is_gmp());
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
