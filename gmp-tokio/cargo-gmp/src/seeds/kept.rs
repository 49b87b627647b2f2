//! Seeds under which a test has failed: a file of the project, to be committed.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::listing::Test;
use crate::project::Project;

pub(super) const NAME: &str = "gmp-seeds.txt";

const HEAD: &str = "\
# Seeds under which tests have failed. `cargo gmp test --seeds` tries these first. Commit this file, so
# that a fault that came back is found at once. A seed means the same run only while the test makes the
# same decisions, so a line may be removed when the test has changed.
";

#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    text: String,
    /// What follows the seed in the lines for these runs.
    suffix: String,
}

impl Kept {
    /// `suffix`: what makes a run another one beside its seed (`Request::suffix`).
    pub(super) fn read(project: &Project, suffix: String) -> Result<Self> {
        Kept::of(project.root_manifest().with_file_name(NAME), suffix)
    }

    fn of(path: PathBuf, suffix: String) -> Result<Self> {
        let text = match path.exists() {
            true => fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?,
            false => String::new(),
        };
        for (number, line) in text.lines().enumerate() {
            let has_seed = line.split(' ').skip(1).any(|word| u64::from_str_radix(word.trim_end(), 16).is_ok());
            ensure!(
                has_seed || line.starts_with('#') || line.trim().is_empty(),
                "line {} of {} has no seed: {line:?}; allowed are lines as `app::test 5f3a`, and comments after `#`",
                number + 1,
                path.display()
            );
        }
        Ok(Kept { path, text, suffix })
    }

    /// The seeds of the test.
    pub(super) fn seeds(&self, test: &Test) -> Vec<u64> {
        self.of_name(&test.full_name()).collect()
    }

    fn of_name(&self, name: &str) -> impl Iterator<Item = u64> {
        let lines = self.text.lines().filter(|line| !line.starts_with('#'));
        let seeds = lines.filter_map(move |line| line.strip_prefix(name)?.strip_prefix(' '));
        seeds.filter_map(|seed| u64::from_str_radix(seed.trim_end().strip_suffix(&self.suffix)?, 16).ok())
    }

    pub(super) fn add(&mut self, test: &Test, seed: u64) -> Result<()> {
        self.add_name(&test.full_name(), seed)
    }

    fn add_name(&mut self, name: &str, seed: u64) -> Result<()> {
        if self.of_name(name).any(|known| known == seed) {
            return Ok(());
        }
        let head = if self.text.is_empty() { HEAD } else { "" };
        let line = format!("{head}{name} {seed:x}{}\n", self.suffix);
        append(&self.path, &line).with_context(|| format!("can't write {}", self.path.display()))?;
        self.text += &line;
        Ok(())
    }
}

fn append(path: &Path, text: &str) -> Result<()> {
    Ok(File::options().append(true).create(true).open(path)?.write_all(text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Kept::of(folder.path().join(NAME), String::new()).unwrap();
        let mut kept = read();
        for (name, seed) in [("app::a", 0x5f3a), ("app::ab", 2), ("app::a", 0x5f3a), ("app::a", 1)] {
            kept.add_name(name, seed).unwrap();
        }
        let kept = read();
        assert_eq!(kept.text, format!("{HEAD}app::a 5f3a\napp::ab 2\napp::a 1\n"));
        assert_eq!(kept.of_name("app::a").collect::<Vec<_>>(), [0x5f3a, 1]);
        assert_eq!(kept.of_name("app").count(), 0);

        let mut in_order = Kept::of(folder.path().join(NAME), " keep-order net=loss=1%".to_owned()).unwrap();
        assert_eq!(in_order.of_name("app::a").count(), 0);
        in_order.add_name("app::a", 1).unwrap();
        assert_eq!(in_order.of_name("app::a").collect::<Vec<_>>(), [1]);
        assert!(in_order.text.ends_with("app::a 1\napp::a 1 keep-order net=loss=1%\n"));
        assert_eq!(read().of_name("app::a").collect::<Vec<_>>(), [0x5f3a, 1]);
    }

    #[test]
    fn a_line_without_a_seed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        fs::write(&path, "# kept\n\napp::a case 5f3a\r\napp::b zzz\n").unwrap();
        let error = Kept::of(path, String::new()).unwrap_err().to_string();
        assert!(error.starts_with("line 4 of ") && error.contains("has no seed: \"app::b zzz\"; allowed"), "{error}");
    }
}
