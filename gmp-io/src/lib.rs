//! The reactor, and everything that has a file descriptor.
