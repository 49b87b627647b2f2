//! The edits by which a read notices that it is dropped although it has taken bytes. gmp-exec's
//! `dump::reads` counts such reads.
//!
//! A field notices it. If the futures themselves had a `Drop`, the compiler would take what they borrow
//! for used until they go out of scope, and programs that compile with tokio would not. The place of a
//! call is known if the function has `#[track_caller]`, which an `async fn` can't have: the functions that
//! copy become functions that return a future.

use super::edits::Edit;

/// Each text must be in its file exactly once.
pub(super) const READS: &[Edit] = &[
    Edit {
        name: "reads: the place of read_exact",
        file: "src/io/util/async_read_ext.rs",
        find: "        fn read_exact<'a>(",
        replace: "        #[track_caller]\n        fn read_exact<'a>(",
    },
    Edit {
        name: "reads: the place of a read of a number",
        file: "src/io/util/async_read_ext.rs",
        find: "                fn $name(&mut self) -> $($fut)*<&mut Self>",
        replace: "                #[track_caller]\n                fn $name(&mut self) -> $($fut)*<&mut Self>",
    },
    Edit {
        name: "reads: the place of read_until",
        file: "src/io/util/async_buf_read_ext.rs",
        find: "        fn read_until<'a>(",
        replace: "        #[track_caller]\n        fn read_until<'a>(",
    },
    Edit {
        name: "reads: the place of read_line",
        file: "src/io/util/async_buf_read_ext.rs",
        find: "        fn read_line<'a>(",
        replace: "        #[track_caller]\n        fn read_line<'a>(",
    },
    Edit {
        name: "reads: read_exact begins",
        file: "src/io/util/read_exact.rs",
        find: "pub(crate) fn read_exact<",
        replace: "#[track_caller]\npub(crate) fn read_exact<",
    },
    Edit {
        name: "reads: read_exact",
        file: "src/io/util/read_exact.rs",
        find: "        buf: ReadBuf::new(buf),\n",
        replace: "        buf: ReadBuf::new(buf),\n        \
                  reading: gmp_exec::bridge::Reading::here(gmp_exec::bridge::ReadKind::Exact),\n",
    },
    Edit {
        name: "reads: read_exact notices its drop",
        file: "src/io/util/read_exact.rs",
        find: "        buf: ReadBuf<'a>,\n",
        replace: "        buf: ReadBuf<'a>,\n        reading: gmp_exec::bridge::Reading,\n",
    },
    Edit {
        name: "reads: a poll of read_exact",
        file: "src/io/util/read_exact.rs",
        find: "                match ready!(Pin::new(&mut *me.reader).poll_read(cx, me.buf)) {\n",
        replace: "                let read = Pin::new(&mut *me.reader).poll_read(cx, me.buf);\n                \
                  me.reading.polled(read.is_pending(), me.buf.filled().len());\n                \
                  match ready!(read) {\n",
    },
    Edit {
        name: "reads: a read of a number notices its drop",
        file: "src/io/util/read_int.rs",
        find: "                buf: [u8; $bytes],\n                read: u8,\n",
        replace: "                buf: [u8; $bytes],\n                read: u8,\n                \
                  reading: gmp_exec::bridge::Reading,\n",
    },
    Edit {
        name: "reads: a read of a number begins",
        file: "src/io/util/read_int.rs",
        find: "        impl<R> $name<R> {\n            pub(crate) fn new(src: R) -> Self {\n",
        replace: "        impl<R> $name<R> {\n            #[track_caller]\n            pub(crate) fn new(src: R) -> Self {\n",
    },
    Edit {
        name: "reads: a read of a number",
        file: "src/io/util/read_int.rs",
        find: "                    buf: [0; $bytes],\n",
        replace: "                    buf: [0; $bytes],\n                    \
                  reading: gmp_exec::bridge::Reading::here(gmp_exec::bridge::ReadKind::Number),\n",
    },
    Edit {
        name: "reads: a poll of a read of a number",
        file: "src/io/util/read_int.rs",
        find: "                    *me.read += match me.src.as_mut().poll_read(cx, &mut buf) {\n",
        replace: "                    let result = me.src.as_mut().poll_read(cx, &mut buf);\n                    \
                  me.reading.polled(result.is_pending(), *me.read as usize);\n                    \
                  *me.read += match result {\n",
    },
    Edit {
        name: "reads: read_until notices its drop",
        file: "src/io/util/read_until.rs",
        find: "        read: usize,\n",
        replace: "        read: usize,\n        reading: gmp_exec::bridge::Reading,\n",
    },
    Edit {
        name: "reads: read_until begins",
        file: "src/io/util/read_until.rs",
        find: "pub(crate) fn read_until<",
        replace: "#[track_caller]\npub(crate) fn read_until<",
    },
    Edit {
        name: "reads: read_until",
        file: "src/io/util/read_until.rs",
        find: "        buf,\n        read: 0,\n",
        replace: "        buf,\n        read: 0,\n        \
                  reading: gmp_exec::bridge::Reading::here(gmp_exec::bridge::ReadKind::Until),\n",
    },
    Edit {
        name: "reads: a poll of read_until",
        file: "src/io/util/read_until.rs",
        find: "        read_until_internal(Pin::new(*me.reader), cx, *me.delimiter, me.buf, me.read)\n",
        replace: "        \
                  let result = read_until_internal(Pin::new(*me.reader), cx, *me.delimiter, me.buf, me.read);\n        \
                  me.reading.polled(result.is_pending(), *me.read);\n        result\n",
    },
    Edit {
        name: "reads: read_line notices its drop",
        file: "src/io/util/read_line.rs",
        find: "        read: usize,\n        // Make",
        replace: "        read: usize,\n        reading: gmp_exec::bridge::Reading,\n        // Make",
    },
    Edit {
        name: "reads: read_line begins",
        file: "src/io/util/read_line.rs",
        find: "pub(crate) fn read_line<",
        replace: "#[track_caller]\npub(crate) fn read_line<",
    },
    Edit {
        name: "reads: read_line",
        file: "src/io/util/read_line.rs",
        find: "        read: 0,\n",
        replace: "        read: 0,\n        \
                  reading: gmp_exec::bridge::Reading::here(gmp_exec::bridge::ReadKind::Line),\n",
    },
    Edit {
        name: "reads: a poll of read_line",
        file: "src/io/util/read_line.rs",
        find: "        read_line_internal(Pin::new(*me.reader), cx, me.output, me.buf, me.read)\n",
        replace: "        \
                  let result = read_line_internal(Pin::new(*me.reader), cx, me.output, me.buf, me.read);\n        \
                  me.reading.polled(result.is_pending(), *me.read);\n        result\n",
    },
    Edit {
        name: "reads: a copy notices its drop",
        file: "src/io/util/copy.rs",
        find: "    buf: Box<[u8]>,\n}\n",
        replace: "    buf: Box<[u8]>,\n    reading: gmp_exec::bridge::Reading,\n}\n",
    },
    Edit {
        name: "reads: a copy begins",
        file: "src/io/util/copy.rs",
        find: "    pub(super) fn new(buf_size: usize) -> Self {\n        Self {\n",
        replace: "    pub(super) fn new(buf_size: usize, called: &'static std::panic::Location<'static>) -> Self {\n        \
                  Self {\n            \
                  reading: gmp_exec::bridge::Reading::at(called, gmp_exec::bridge::ReadKind::Copy),\n",
    },
    Edit {
        name: "reads: a poll of a copy",
        file: "src/io/util/copy.rs",
        find: "    pub(super) fn poll_copy<R, W>(\n",
        replace: "    pub(super) fn poll_copy<R, W>(\n        &mut self,\n        cx: &mut Context<'_>,\n        \
                  reader: Pin<&mut R>,\n        writer: Pin<&mut W>,\n    ) -> Poll<io::Result<u64>>\n    where\n        \
                  R: AsyncRead + ?Sized,\n        W: AsyncWrite + ?Sized,\n    {\n        \
                  let result = self.poll_copy_on(cx, reader, writer);\n        \
                  self.reading.polled(result.is_pending(), self.cap - self.pos);\n        result\n    }\n\n    \
                  fn poll_copy_on<R, W>(\n",
    },
    Edit {
        name: "reads: the place of a copy",
        file: "src/io/util/copy.rs",
        find: "    pub async fn copy<'a, R, W>(reader: &'a mut R, writer: &'a mut W) -> io::Result<u64>\n    where\n        \
               R: AsyncRead + Unpin + ?Sized,\n        W: AsyncWrite + Unpin + ?Sized,\n    {\n        Copy {\n            \
               reader,\n            writer,\n            buf: CopyBuffer::new(super::DEFAULT_BUF_SIZE)\n        }.await\n",
        replace: "    #[track_caller]\n    \
                  pub fn copy<'a, R, W>(\n        reader: &'a mut R,\n        writer: &'a mut W,\n    \
                  ) -> impl Future<Output = io::Result<u64>> + use<'a, R, W>\n    where\n        \
                  R: AsyncRead + Unpin + ?Sized,\n        W: AsyncWrite + Unpin + ?Sized,\n    {\n        \
                  let called = std::panic::Location::caller();\n        \
                  async move {\n            Copy {\n                reader,\n                writer,\n                \
                  buf: CopyBuffer::new(super::DEFAULT_BUF_SIZE, called)\n            }.await\n        }\n",
    },
    Edit {
        name: "reads: the place of a copy in both directions",
        file: "src/io/util/copy_bidirectional.rs",
        find: "pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>\nwhere\n    \
               A: AsyncRead + AsyncWrite + Unpin + ?Sized,\n    B: AsyncRead + AsyncWrite + Unpin + ?Sized,\n{\n    \
               copy_bidirectional_impl(\n        a,\n        b,\n        \
               CopyBuffer::new(super::DEFAULT_BUF_SIZE),\n        CopyBuffer::new(super::DEFAULT_BUF_SIZE),\n    \
               )\n    .await\n",
        replace: "#[track_caller]\npub fn copy_bidirectional<'a, 'b, A, B>(\n    a: &'a mut A,\n    b: &'b mut B,\n\
                  ) -> impl std::future::Future<Output = io::Result<(u64, u64)>> + use<'a, 'b, A, B>\nwhere\n    \
                  A: AsyncRead + AsyncWrite + Unpin + ?Sized,\n    B: AsyncRead + AsyncWrite + Unpin + ?Sized,\n{\n    \
                  let called = std::panic::Location::caller();\n    \
                  let buffer = move || CopyBuffer::new(super::DEFAULT_BUF_SIZE, called);\n    \
                  async move { copy_bidirectional_impl(a, b, buffer(), buffer()).await }\n",
    },
    Edit {
        name: "reads: a copy in one direction, with a size",
        file: "src/io/util/copy_bidirectional.rs",
        find: "        CopyBuffer::new(a_to_b_buf_size),\n        CopyBuffer::new(b_to_a_buf_size),\n",
        replace: "        CopyBuffer::new(a_to_b_buf_size, std::panic::Location::caller()),\n        \
                  CopyBuffer::new(b_to_a_buf_size, std::panic::Location::caller()),\n",
    },
];
