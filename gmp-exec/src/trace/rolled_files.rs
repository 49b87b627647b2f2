//! Numbered files that have a limited number of bytes together: the oldest is deleted first.
//!
//! `a-000001.pftrace`, `a-000002.pftrace`, ... Those of an earlier process count, too: a program
//! that is started again and again keeps to the limit.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file with a larger number is not one of these: no program makes so many. So a number can be
/// counted up without end.
const MOST: u64 = u64::MAX / 2;

#[derive(Debug)]
pub(super) struct RolledFiles {
    /// Without the number.
    file: PathBuf,
    /// Bytes of all files together.
    limit: u64,
    /// The oldest first: the number, and the bytes.
    files: VecDeque<(u64, u64)>,
    next: u64,
    /// The number of the first file of this process.
    first: Option<u64>,
}

impl RolledFiles {
    pub(super) fn new(file: &Path, limit: u64) -> RolledFiles {
        let mut rolled = RolledFiles { file: file.to_owned(), limit, files: VecDeque::new(), next: 1, first: None };
        let mut found = rolled.find().unwrap_or_default();
        found.sort_unstable();
        rolled.next = found.last().map_or(1, |(number, _)| number + 1);
        rolled.files = found.into();
        rolled
    }

    /// Writes the next file, and deletes others before if there are too many bytes.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be written or deleted, or if these are more bytes than all files may
    /// have.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.make_room(bytes.len() as u64)?;
        let (number, mut file) = self.create()?;
        self.next = number + 1;
        self.first.get_or_insert(number);
        let written = file.write_all(bytes);
        let size = if written.is_ok() { bytes.len() as u64 } else { file.metadata().map_or(0, |data| data.len()) };
        self.files.push_back((number, size));
        written
    }

    /// The oldest and the newest file of this process.
    pub(super) fn range(&self) -> Option<(PathBuf, PathBuf)> {
        let first = self.first?.max(self.files.front()?.0);
        Some((self.path(first), self.path(self.files.back()?.0)))
    }

    fn make_room(&mut self, bytes: u64) -> io::Result<()> {
        if bytes > self.limit {
            return Err(io::Error::other(format!("{bytes} bytes at once")));
        }
        while self.files.iter().map(|(_, size)| size).sum::<u64>() + bytes > self.limit {
            let Some((oldest, _)) = self.files.front() else { break };
            match fs::remove_file(self.path(*oldest)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => self.files.pop_front(),
            };
        }
        Ok(())
    }

    /// Another runtime of this program may have made a file meanwhile.
    fn create(&self) -> io::Result<(u64, File)> {
        let mut number = self.next;
        loop {
            match File::create_new(self.path(number)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                created => return created.map(|file| (number, file)),
            }
        }
    }

    fn find(&self) -> io::Result<Vec<(u64, u64)>> {
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let found = fs::read_dir(folder)?.filter_map(Result::ok).filter_map(|entry| {
            let number = self.number_of(&entry.file_name().into_string().ok()?)?;
            Some((number, entry.metadata().ok()?.len()))
        });
        Ok(found.collect())
    }

    fn number_of(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(self.file.file_stem()?.to_str()?)?.strip_prefix('-')?;
        let digits = match self.file.extension() {
            Some(extension) => rest.strip_suffix(extension.to_str()?)?.strip_suffix('.')?,
            None => rest,
        };
        if digits.len() < 6 { None } else { digits.parse().ok().filter(|number| *number <= MOST) }
    }

    fn path(&self, number: u64) -> PathBuf {
        super::files::with_suffix(&self.file, &format!("-{number:06}"))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// An empty folder, which is deleted at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("gmp-rolled-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_oldest_files_are_deleted_first() {
        let folder = Folder::new("oldest");
        let mut rolled = RolledFiles::new(&folder.0.join("t.pftrace"), 10);
        assert_eq!(rolled.range(), None);
        for size in [4, 6] {
            rolled.add(&vec![0; size]).unwrap();
        }
        assert_eq!(folder.names(), ["t-000001.pftrace", "t-000002.pftrace"]);
        rolled.add(&[0; 1]).unwrap();
        assert_eq!(folder.names(), ["t-000002.pftrace", "t-000003.pftrace"]);
        rolled.add(&[0; 10]).unwrap();
        assert_eq!(folder.names(), ["t-000004.pftrace"]);
        assert!(rolled.add(&[0; 11]).is_err());
        assert_eq!(folder.names(), ["t-000004.pftrace"], "nothing was deleted for a file that is too large");
        let only = folder.0.join("t-000004.pftrace");
        assert_eq!(rolled.range(), Some((only.clone(), only)));
    }

    #[test]
    fn files_of_an_earlier_process_count_and_others_do_not() {
        let folder = Folder::new("earlier");
        for name in ["t-000007.x", "t-000009.x", "t-8.x", "t-000008.y", "t.x", "u-000008.x", "t-00000a.x"] {
            fs::write(folder.0.join(name), [0; 4]).unwrap();
        }
        let mut rolled = RolledFiles::new(&folder.0.join("t.x"), 10);
        rolled.add(&[0; 4]).unwrap();
        let expected = ["t-000008.y", "t-000009.x", "t-00000a.x", "t-000010.x", "t-8.x", "t.x", "u-000008.x"];
        assert_eq!(folder.names(), expected);
        let own = folder.0.join("t-000010.x");
        assert_eq!(rolled.range(), Some((own.clone(), own)));
    }

    /// Anyone who may write to the folder can make such a file.
    #[test]
    fn a_file_with_the_largest_number_is_another_program_s() {
        let folder = Folder::new("largest");
        for number in [u64::MAX, u64::MAX - 1, 7] {
            fs::write(folder.0.join(format!("t-{number:06}.x")), [0; 4]).unwrap();
        }
        let mut rolled = RolledFiles::new(&folder.0.join("t.x"), 4);
        rolled.add(&[0; 4]).unwrap();
        rolled.add(&[0; 4]).unwrap();
        assert_eq!(folder.names(), ["t-000009.x", "t-18446744073709551614.x", "t-18446744073709551615.x"]);
    }

    #[test]
    fn two_runtimes_do_not_overwrite_each_others_files() {
        let folder = Folder::new("two");
        let mut rolled = [RolledFiles::new(&folder.0.join("t"), 99), RolledFiles::new(&folder.0.join("t"), 99)];
        rolled.iter_mut().for_each(|rolled| rolled.add(&[0; 4]).unwrap());
        assert_eq!(folder.names(), ["t-000001", "t-000002"]);
    }

    #[test]
    fn a_file_that_someone_else_has_deleted_is_forgotten() {
        let folder = Folder::new("deleted");
        let mut rolled = RolledFiles::new(&folder.0.join("t"), 10);
        rolled.add(&[0; 8]).unwrap();
        fs::remove_file(folder.0.join("t-000001")).unwrap();
        rolled.add(&[0; 8]).unwrap();
        assert_eq!(folder.names(), ["t-000002"]);
    }
}
