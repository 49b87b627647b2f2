//! Files and directories.
