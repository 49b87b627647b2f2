//! `cargo gmp help settings`: the variables of docs/settings.md, which tests compare with the code.

const PAGE: &str = include_str!("settings.txt");

const HEAD: &str = "\
Settings of programs on gmp, from the environment. A program needs none; a runtime reads them when it is built, and a
wrong value is an error.
";

pub(crate) fn help() -> String {
    PAGE.lines().filter_map(setting).fold(HEAD.to_owned(), |text, setting| text + "\n" + &setting)
}

/// A row of the first table, which alone has five columns.
fn setting(line: &str) -> Option<String> {
    let row = line.strip_prefix("| `GMP_")?.strip_suffix(" |")?.replace('`', "");
    let [name, values, default, what, _] = row.split(" | ").collect::<Vec<_>>().try_into().ok()?;
    Some(format!("GMP_{name}={values}\n    default: {default}\n    {what}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_of_the_page_is_there() {
        let text = help();
        let names = PAGE.lines().skip_while(|line| !line.starts_with("| `GMP_")).take_while(|line| !line.is_empty());
        let names: Vec<&str> = names.map(|line| line.split('`').nth(1).unwrap()).collect();
        assert!(names.len() > 8 && names.iter().all(|name| text.contains(&format!("\n{name}="))), "{names:?}\n{text}");
        assert!(
            text.contains("\nGMP_CLOSURES=threads, in-place\n    default: threads\n    in-place: the threads"),
            "{text}"
        );
        assert!(!text.contains(['|', '`']), "{text}");
    }
}
