//! The same declarations as in `tokio.rs`, written differently.
use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

pub mod one {
    #[derive(Debug)]
    pub struct Error(());
}
pub mod two {
    #[derive(Debug)]
    pub struct Error(());
}
pub mod gone {
    pub fn f() {}
}
pub mod empty {}

pub fn argument(other: u32) {}
pub fn output() -> u32 {
    0
}
pub fn error() -> Alias<()> {
    Ok(())
}
pub fn bound<Other>(t: Other) where Other: Send {}
pub fn generics<U, T>(t: U, u: T) where T: Debug, U: Debug {}
pub fn hidden_generic<T: Debug>(t: T) {}
pub fn lifetimes<'x>(a: &'x str, b: &str) -> &'x str {
    a
}
pub fn elided<'a>(b: &'a str) -> &'a str {
    b
}
pub fn wait<'a>(a: &'a str) -> impl Future<Output = u32> + use<'a> {
    async { 0 }
}
pub const fn constant() {}
pub fn safe() {}
pub fn missing() {}
pub fn closure<F: 'static + Send + for<'x> Fn(&'x str) -> &'x str>(f: F) {
}
pub type Alias<T> = Result<T, one::Error>;

#[macro_export]
macro_rules! rule {
    () => {};
    ($a:expr) => {};
}

/// It is `Unpin` whatever `T` is.
pub struct Set<T> {
    inner: Box<T>,
}

impl<T> Set<T> {
    pub fn new() -> Self {
        loop {}
    }
    pub fn lost(&self) {}
    pub fn shared(&self) {}
    pub fn first(&self, other: &str) -> &T {
        &self.inner
    }
    pub fn pinned(self: Pin<&mut Self>) -> Option<&mut T> {
        None
    }
}

impl<T> Set<T> {
    pub fn spawn<F>(&mut self, f: F)
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
    }
}

impl<Other: 'static> Set<Other> {
    pub fn loose(&self) {}
}

impl Set<u8> {
    pub const MOST: usize = 1;
    pub fn bytes(&self) {}
}

impl<T> Iterator for Set<T>
where
    T: Debug, {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        None
    }
}

impl<T> From<T> for Set<T> {
    fn from(t: T) -> Set<T> {
        Set { inner: Box::new(t) }
    }
}

pub struct Sendable {
    a: u8,
    b: u16,
}
pub struct Thread(PhantomData<*const ()>);
#[non_exhaustive]
pub struct Growing {
    pub a: u32,
}
pub struct Fields {
    pub a: u32,
    pub b: u32,
}
#[derive(Clone, Copy, Debug)]
pub enum Variants {
    A,
    B(u32),
}

pub trait Super {}

pub trait Trait<Other>: Super {
    type Type: Send;
    fn required<'a>(&'a self, other: Other);
    fn provided<'a>(&'a mut self, other: &'a mut u8) -> Pin<&'a mut Self>
    where
        Self: Sized + Unpin,
    {
        Pin::new(self)
    }
}

impl Super for str {}
impl Super for u8 {}

pub struct Borrowed<'a, T: ?Sized>(&'a T);
impl<'b, U> Borrowed<'b, U>
where
    U: ?Sized, {
    pub fn get(&self) -> &'b U {
        self.0
    }
}
