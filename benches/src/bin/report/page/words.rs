//! Descriptions of the workloads, taken from the tables of README.md so that they are written only
//! once. A test fails if a new row has none.

const README: &str = include_str!("../../../../README.md");

/// What the workload does, and what counts as an operation.
pub(crate) fn of(workload: &str) -> Option<(&'static str, &'static str)> {
    let name = format!("`{workload}`");
    README.lines().find_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let names = cells.next()?.split(", ").any(|it| it == name);
        if names { Some((cells.next()?, cells.next()?)) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use gmp_benches::plan;

    use super::*;

    #[test]
    fn every_workload_is_described() {
        let missing: Vec<_> = plan::names().into_iter().filter(|name| of(name).is_none()).collect();
        assert!(missing.is_empty(), "README.md has no row for {missing:?}");
    }

    #[test]
    fn what_is_not_in_the_readme_has_no_words() {
        assert_eq!(of("no_such_workload"), None);
    }
}
