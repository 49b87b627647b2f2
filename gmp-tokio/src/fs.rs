//! Files and directories.

#[doc(inline)]
pub use gmp_io::fs::{
    DirBuilder, DirEntry, File, FileTimes, OpenOptions, ReadDir, canonicalize, copy, create_dir, create_dir_all,
    hard_link, metadata, read, read_dir, read_link, read_to_string, remove_dir, remove_dir_all, remove_file, rename,
    set_permissions, symlink, symlink_metadata, try_exists, write,
};
