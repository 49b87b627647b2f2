//! A path that was just read leads to another file, or the file changes: the next read returns what
//! the standard library's does, whatever is remembered of the path.

use std::fs::{OpenOptions, create_dir, remove_dir, remove_file, rename, set_permissions, write};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gmp_exec::time::timeout;
use gmp_io::fs;
use rustix::fs::{Advice, fadvise};
use tempfile::TempDir;

use crate::fs_support::{counting_threads, fifo, temp_dir};
use crate::support::{multi_thread, on_both, within_deadline};

/// A file of a page that was read before each change.
struct Remembered {
    directory: TempDir,
    path: PathBuf,
}

impl Remembered {
    fn new() -> Remembered {
        let directory = temp_dir();
        let path = directory.path().join("file");
        Remembered { directory, path }
    }

    async fn read_as_a_file(&self) {
        let _ = remove_dir(&self.path);
        let _ = remove_file(&self.path);
        write(&self.path, [1; 4096]).expect("written");
        // The first read finds out about the file system, the second one about the path.
        for _ in 0..3 {
            assert_eq!(fs::read(&self.path).await.expect("read"), [1; 4096]);
        }
    }

    fn put_in_place(&self, make: impl FnOnce(&Path)) {
        let other = self.directory.path().join("other");
        make(&other);
        rename(other, &self.path).expect("renamed");
    }
}

/// Writes two pages, of which only the first is in memory afterwards.
fn half_in_memory(path: &Path) {
    let mut file = std::fs::File::create(path).expect("created");
    file.write_all(&[2; 8192]).expect("written");
    file.sync_all().expect("on the disk");
    fadvise(&file, 4096, None, Advice::DontNeed).expect("forgotten");
}

#[test]
fn what_is_read_is_what_the_standard_library_reads() {
    type Change = fn(&Remembered);
    let changes: [(&str, Change); 14] = [
        ("nothing", |_| {}),
        ("a bigger file", |it| it.put_in_place(half_in_memory)),
        ("a smaller file", |it| it.put_in_place(|other| write(other, [3; 100]).expect("written"))),
        ("an empty file", |it| it.put_in_place(|other| write(other, []).expect("written"))),
        ("longer", |it| {
            OpenOptions::new().write(true).open(&it.path).expect("opened").set_len(8192).expect("longer");
        }),
        ("written again", |it| half_in_memory(&it.path)),
        ("shorter", |it| write(&it.path, [4; 10]).expect("written")),
        ("a file of the system", |it| it.put_in_place(|other| symlink("/proc/self/comm", other).expect("a link"))),
        ("a device", |it| it.put_in_place(|other| symlink("/dev/null", other).expect("a link"))),
        ("a loop", |it| it.put_in_place(|other| symlink(&it.path, other).expect("a link"))),
        ("a link to nothing", |it| it.put_in_place(|other| symlink("nothing", other).expect("a link"))),
        ("no permission", |it| set_permissions(&it.path, PermissionsExt::from_mode(0o0)).expect("the owner")),
        ("nothing any more", |it| remove_file(&it.path).expect("removed")),
        ("a directory", |it| {
            remove_file(&it.path).expect("removed");
            create_dir(&it.path).expect("a directory");
        }),
    ];
    on_both(|| async move {
        let remembered = Remembered::new();
        for (name, change) in changes {
            remembered.read_as_a_file().await;
            change(&remembered);
            // In this order: the standard library's read would bring the file into memory.
            let ours = [fs::read(&remembered.path).await, fs::read(&remembered.path).await];
            let theirs = std::fs::read(&remembered.path);
            for ours in ours {
                match (ours, &theirs) {
                    (Ok(ours), Ok(theirs)) => assert!(ours == *theirs, "{name}: {} bytes", ours.len()),
                    (ours, theirs) => assert_eq!(
                        ours.map_err(|error| error.raw_os_error()).err(),
                        theirs.as_ref().map_err(|error| error.raw_os_error()).err(),
                        "{name}"
                    ),
                }
            }
        }
    });
}

#[test]
fn a_path_that_leads_to_another_file_system_is_read_in_the_background() {
    let (runtime, threads_started) = counting_threads();
    let remembered = Remembered::new();
    // This finds out about the file system, in the background of another runtime.
    multi_thread().block_on(remembered.read_as_a_file());
    runtime.block_on(async {
        fs::read(&remembered.path).await.expect("read");
        remembered.put_in_place(|other| symlink("/proc/self/comm", other).expect("a link"));
        for _ in 0..2 {
            let name = fs::read(&remembered.path).await.expect("read");
            assert_eq!(name, std::fs::read("/proc/self/comm").expect("read"));
        }
        assert!(threads_started() > 0, "it was read on the thread");
    });
}

/// The writer has opened the FIFO as soon as there is a reader, and a second reader would not be
/// its reader.
#[test]
fn a_fifo_in_place_of_a_file_keeps_its_writer() {
    on_both(|| async {
        let remembered = Remembered::new();
        for _ in 0..20 {
            remembered.read_as_a_file().await;
            remembered.put_in_place(|other| rename(fifo(other.parent().expect("there")), other).expect("renamed"));
            let writing = std::thread::spawn({
                let path = remembered.path.clone();
                move || OpenOptions::new().write(true).open(path)?.write_all(b"through the pipe")
            });
            let contents = within_deadline(fs::read(&remembered.path)).await.expect("read");
            assert_eq!(contents, b"through the pipe");
            writing.join().expect("no panic").expect("written");
        }
    });
}

#[test]
fn a_fifo_in_place_of_a_file_can_be_left() {
    for runtime in [multi_thread(), counting_threads().0] {
        let remembered = Remembered::new();
        runtime.block_on(async {
            remembered.read_as_a_file().await;
            remembered.put_in_place(|other| rename(fifo(other.parent().expect("there")), other).expect("renamed"));
            timeout(Duration::from_millis(100), fs::read(&remembered.path)).await.expect_err("no writer");
        });
        let ending = Instant::now();
        drop(runtime);
        assert!(ending.elapsed() < Duration::from_secs(5), "{:?}", ending.elapsed());
    }
}
