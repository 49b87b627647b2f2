/// `OwnedReadHalf`, `OwnedWriteHalf`, `ReuniteError`, and `split_owned`, which makes the halves. The attributes, meant for an
/// example, go to `reunite`.
macro_rules! owned_halves {
    ($(#[$reunite:meta])* $stream:ident, $address:ty) => {
        #[doc = concat!("The reading half of a connection, from [`", stringify!($stream), "::into_split`].")]
        #[derive(Debug)]
        pub struct OwnedReadHalf {
            stream: std::sync::Arc<$stream>,
        }

        #[doc = concat!("The writing half of a connection, from [`", stringify!($stream), "::into_split`].")]
        ///
        /// Dropping it closes the writing direction, so that the peer sees the end of the stream;
        /// [`forget`](OwnedWriteHalf::forget) drops it without.
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: std::sync::Arc<$stream>,
            close_on_drop: bool,
        }

        /// The halves that [`reunite`](OwnedReadHalf::reunite) was given are not from the same connection. It has them both.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        pub(super) fn split_owned(stream: $stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            let stream = std::sync::Arc::new(stream);
            (OwnedReadHalf { stream: stream.clone() }, OwnedWriteHalf { stream, close_on_drop: true })
        }

        fn reunite(read: OwnedReadHalf, write: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
            if !std::sync::Arc::ptr_eq(&read.stream, &write.stream) {
                return Err(ReuniteError(read, write));
            }
            write.forget();
            let stream = std::sync::Arc::into_inner(read.stream);
            Ok(stream.expect("two halves share a connection, and one of them is gone"))
        }

        impl OwnedReadHalf {
            /// Puts two halves together again.
            ///
            /// # Errors
            ///
            /// They are not from the same connection.
            $(#[$reunite])*
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
                reunite(self, other)
            }

            fn stream(&self) -> &$stream {
                &self.stream
            }
        }

        impl OwnedWriteHalf {
            /// Puts two halves together again.
            ///
            /// # Errors
            ///
            /// They are not from the same connection.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                reunite(other, self)
            }

            /// Drops the half and leaves the writing direction open, although nobody is left to write. The connection is
            /// closed when the reading half is gone too.
            pub fn forget(mut self) {
                self.close_on_drop = false;
            }

            fn stream(&self) -> &$stream {
                &self.stream
            }

            fn close(&mut self) -> std::io::Result<()> {
                self.stream.close_writing()?;
                self.close_on_drop = false;
                Ok(())
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.close_on_drop {
                    // Nobody is left to be told.
                    let _ = self.close();
                }
            }
        }

        crate::net::halves::reading_half! { OwnedReadHalf, $stream, $address }
        crate::net::halves::writing_half! { OwnedWriteHalf, $stream, $address }

        impl std::fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }

        impl std::error::Error for ReuniteError {}
    };
}

pub(in crate::net) use owned_halves;
