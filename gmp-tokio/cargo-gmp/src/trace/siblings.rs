//! The files that `GMP_TRACE=FILE` makes of several runtimes: `FILE`, `FILE-runtime2`, ...

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

const MARK: &str = "-runtime";

/// The files beside this one that have such names, in the order of the runtimes.
pub(super) fn siblings(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some((base, _)) = path.file_stem().and_then(parts) else { return Vec::new() };
    let number = |file: &Path| {
        let (stem, number) = parts(file.file_stem()?)?;
        (stem == base && file.extension() == path.extension() && file.file_name() != path.file_name()).then_some(number)
    };
    let files =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| path.with_file_name(entry.file_name()));
    let mut numbered: Vec<(u32, PathBuf)> = files.filter_map(|file| Some((number(&file)?, file))).collect();
    numbered.sort();
    numbered.into_iter().map(|(_, file)| file).collect()
}

/// The name of the file of this runtime, from 1: the number comes before the extension.
pub(super) fn of_runtime(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("{MARK}{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The name without the number of the runtime, and that number.
fn parts(stem: &OsStr) -> Option<(&str, u32)> {
    let stem = stem.to_str()?;
    let split = stem.rsplit_once(MARK).and_then(|(base, number)| Some((base, number.parse().ok()?)));
    Some(split.unwrap_or((stem, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_has_a_name_that_is_found_again() {
        assert_eq!(of_runtime(Path::new("d/a.x"), 1), Path::new("d/a.x"));
        for (path, expected) in [("d/a.x", "d/a-runtime2.x"), ("a", "a-runtime2")] {
            let of_second = of_runtime(Path::new(path), 2);
            assert_eq!(of_second, Path::new(expected));
            assert_eq!(parts(of_second.file_stem().unwrap()), Some(("a", 2)));
        }
    }

    #[test]
    fn the_other_runtimes_files_are_found_from_each() {
        let folder = tempfile::tempdir().unwrap();
        let all = ["a.x", "a-runtime2.x", "a-runtime10.x"];
        for name in all.into_iter().chain(["a-2.x", "a-runtime3.y", "b-runtime2.x", "a-runtimes.x", "a"]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        for name in all {
            let found = siblings(&folder.path().join(name));
            let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
            assert_eq!(names, all.into_iter().filter(|other| *other != name).collect::<Vec<_>>());
        }
    }
}
