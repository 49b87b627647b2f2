/// `ReadHalf`, `WriteHalf`, and `split`, which makes them.
macro_rules! borrowed_halves {
    ($stream:ident, $address:ty) => {
        #[doc = concat!("The reading half of a borrowed connection, from [`", stringify!($stream), "::split`].")]
        #[derive(Debug)]
        pub struct ReadHalf<'a>(&'a $stream);

        #[doc = concat!("The writing half of a borrowed connection, from [`", stringify!($stream), "::split`].")]
        ///
        /// `shutdown` of [`AsyncWrite`](crate::io::AsyncWrite) closes the writing direction; dropping the half does not.
        #[derive(Debug)]
        pub struct WriteHalf<'a>(&'a $stream);

        pub(super) fn split(stream: &mut $stream) -> (ReadHalf<'_>, WriteHalf<'_>) {
            (ReadHalf(stream), WriteHalf(stream))
        }

        impl ReadHalf<'_> {
            fn stream(&self) -> &$stream {
                self.0
            }
        }

        impl WriteHalf<'_> {
            fn stream(&self) -> &$stream {
                self.0
            }

            fn close(&mut self) -> std::io::Result<()> {
                self.0.close_writing()
            }
        }

        crate::net::halves::reading_half! { ReadHalf<'_>, $stream, $address }
        crate::net::halves::writing_half! { WriteHalf<'_>, $stream, $address }
    };
}

pub(in crate::net) use borrowed_halves;
