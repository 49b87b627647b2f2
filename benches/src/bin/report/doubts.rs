//! Reasons to doubt the figures of a report: parts that don't belong together, and a machine that
//! was not quiet.

use crate::about::About;
use crate::part::Part;

/// The load of other programs above which figures are not trustworthy.
const MOST: f64 = 0.5;

/// The warnings before the first figure, one sentence each.
pub(crate) fn all(about: &[(Part, About)]) -> Vec<String> {
    mixed(about).into_iter().chain(about.iter().filter_map(|(part, about)| noise(*part, about))).collect()
}

/// Whether other programs kept the machine busy before a part was measured.
pub(crate) fn noise(part: Part, about: &About) -> Option<String> {
    let load = about.others_before.filter(|&load| load > MOST)?;
    Some(format!(
        "The machine was not quiet before {} was measured: its load was {load:.2}, and above {MOST} figures are not to be \
         trusted.",
        part.name()
    ))
}

/// Whether parts are from different days or commits.
fn mixed(about: &[(Part, About)]) -> Option<String> {
    let mut groups: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for (part, about) in about {
        let of = (day(&about.date), about.gmp.as_str());
        match groups.iter_mut().find(|group| group.0 == of) {
            Some((_, parts)) => parts.push(part.name()),
            None => groups.push((of, vec![part.name()])),
        }
    }
    let said = groups.iter().map(|((day, gmp), parts)| format!("{} on {day} with gmp {gmp}", parts.join(", ")));
    let said = said.collect::<Vec<_>>().join("; ");
    (groups.len() > 1).then(|| format!("These parts were not measured together: {said}."))
}

/// The date without the time of day.
fn day(date: &str) -> &str {
    date.split(' ').next().unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(date: &str, gmp: &str) -> About {
        About { date: date.to_owned(), gmp: gmp.to_owned(), ..About::default() }
    }

    #[test]
    fn parts_of_two_days_or_commits_are_told_apart_and_those_of_one_are_not() {
        let doubts = |ticker| {
            let [here, later] = ["10:00", "23:00"].map(|time| about(&format!("2026-11-20 {time} UTC"), "0.1.0 (abc)"));
            all(&[(Part::Table, here), (Part::Mix, later), (Part::Ticker, ticker)])
        };
        assert!(doubts(about("2026-11-20 12:00 UTC", "0.1.0 (abc)")).is_empty());
        for (date, gmp) in [("2026-11-21", "0.1.0 (abc)"), ("2026-11-20", "0.1.0 (def)")] {
            let said = "These parts were not measured together: table, mix on 2026-11-20 with gmp 0.1.0 (abc)";
            let doubts = doubts(about(&format!("{date} 10:00 UTC"), gmp));
            assert_eq!(doubts, [format!("{said}; ticker on {date} with gmp {gmp}.")]);
        }
    }

    #[test]
    fn a_machine_that_was_busy_is_reported_with_the_part() {
        let busy = |load| (Part::Mix, About { others_before: load, ..about("", "") });
        assert!([None, Some(0.5)].into_iter().all(|load| all(&[busy(load)]).is_empty()));
        let doubts = all(&[busy(Some(1.26))]);
        assert!(doubts[0].contains("before mix was measured") && doubts[0].contains(" 1.26,"), "{doubts:?}");
    }
}
