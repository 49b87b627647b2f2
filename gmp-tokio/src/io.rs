//! Asynchronous I/O: the traits, tools for them, the standard streams, and a program's own file
//! descriptors.

#[cfg(feature = "net")]
#[doc(inline)]
pub use gmp_io::io::{Interest, Ready, unix};
#[cfg(feature = "io-std")]
#[doc(inline)]
pub use gmp_io::io::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
#[doc(inline)]
pub use tokio_real::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, Error, ErrorKind, ReadBuf, Result, SeekFrom};
#[cfg(feature = "io-util")]
#[doc(inline)]
pub use tokio_real::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufStream, BufWriter, Chain, DuplexStream,
    Empty, Join, Lines, ReadHalf, Repeat, SimplexStream, Sink, Split, Take, WriteHalf, copy, copy_bidirectional,
    copy_bidirectional_with_sizes, copy_buf, duplex, empty, join, repeat, simplex, sink, split,
};
