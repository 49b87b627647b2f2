//! Declarations of every kind that the comparison has to understand.
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

pub fn argument(a: u32) {}
pub fn output() -> u32 {
    0
}
pub fn error() -> Result<(), one::Error> {
    Ok(())
}
pub fn bound<T: Send>(t: T) {}
pub fn generics<T: Debug, U: Debug>(t: T, u: U) {}
pub fn hidden_generic<T: Debug>(t: T) {}
pub fn lifetimes<'a, 'b>(a: &'a str, b: &'b str) -> &'a str {
    a
}
pub fn elided(a: &str) -> &str {
    a
}
pub async fn wait(a: &str) -> u32 {
    0
}
pub const fn constant() {}
pub fn safe() {}
pub fn missing() {}
pub fn closure<F>(f: F)
where
    F: for<'x> Fn(&'x str) -> &'x str + Send + 'static,
{
}
pub type Alias<T> = Result<T, one::Error>;

#[macro_export]
macro_rules! rule {
    () => {};
    ($a:expr) => {};
}

/// It is `Unpin` whatever `T` is.
pub struct Set<T>(Box<T>);

impl<T> Set<T> {
    pub fn new() -> Set<T> {
        loop {}
    }
    pub fn lost(&self) {}
    pub fn shared(&self) {}
    pub fn first(&self, other: &str) -> &T {
        &self.0
    }
    pub fn pinned(self: Pin<&mut Self>) -> Option<&mut T> {
        None
    }
}

impl<T: 'static> Set<T> {
    pub fn spawn<F>(&mut self, f: F)
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
    }
    pub fn loose(&self) {}
}

impl Set<u8> {
    pub const MOST: usize = 1;
    pub fn bytes(&self) {}
}

impl<T> Drop for Set<T> {
    fn drop(&mut self) {}
}

impl<T: Debug> Iterator for Set<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        None
    }
}

impl<T> From<T> for Set<T> {
    fn from(t: T) -> Set<T> {
        Set(Box::new(t))
    }
}

pub struct Sendable(u8);
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

pub trait Trait<T>: Super {
    type Type: Send;
    fn required(&self, t: T);
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
impl<'a, T: ?Sized> Borrowed<'a, T> {
    pub fn get(&self) -> &'a T {
        self.0
    }
}
