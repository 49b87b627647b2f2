//! The seeds that `cargo gmp test --seeds` has kept, in the file `gmp-seeds.txt` of the workspace.

use std::path::Path;
use std::{env, fs};

const NAME: &str = "gmp-seeds.txt";

/// Those of tests of that name. Tests run in the folder of their package, and the file is there or above.
pub(super) fn seeds(test: &str) -> Vec<u64> {
    let text = env::current_dir().ok().and_then(|folder| find(&folder));
    text.map(|text| of_name(&text, test)).unwrap_or_default()
}

fn find(folder: &Path) -> Option<String> {
    folder.ancestors().find_map(|folder| fs::read_to_string(folder.join(NAME)).ok())
}

/// A line has the names of package, program and test, and the seed. A test of the same name in another
/// program is taken for this one, which costs a run.
fn of_name(text: &str, test: &str) -> Vec<u64> {
    let seed = |line: &str| {
        let (name, seed) = line.trim_end().rsplit_once(' ')?;
        let is_it = name.strip_suffix(test).is_some_and(|program| program.ends_with("::"));
        is_it.then(|| u64::from_str_radix(seed, 16).ok())?
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(seed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_the_test_alone() {
        let text = "# app::a 1\napp::it::a::b 5f3a\napp::a::b 2\napp::c::b 3\nother\napp::xa::b 4\napp::a::b z\n";
        assert_eq!(of_name(text, "a::b"), [0x5f3a, 2]);
        assert_eq!(of_name("", "a::b"), [0; 0]);
    }

    #[test]
    fn the_file_may_be_above() {
        let top = env::temp_dir().join(format!("gmp-kept-{}", std::process::id()));
        let package = top.join("inner/package");
        fs::create_dir_all(&package).unwrap();
        fs::write(top.join(NAME), "app::a 1\n").unwrap();
        assert_eq!(find(&package).unwrap(), "app::a 1\n");
        fs::remove_dir_all(top).unwrap();
    }
}
