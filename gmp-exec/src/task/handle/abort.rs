//! `AbortHandle`: aborts a task without owning its output.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::task::Id;
use crate::task::cell::header::Header;
use crate::task::cell::home::HomeRef;

/// Aborts a task. May outlive the task's [`JoinHandle`](crate::task::JoinHandle). Dropping it has no
/// effect on the task.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let handle = gmp_exec::spawn(std::future::pending::<()>());
/// let abort = handle.abort_handle();
/// abort.abort();
/// assert!(handle.await.unwrap_err().is_cancelled());
/// assert!(abort.is_finished());
/// # });
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    id: Id,
    /// The task's key in the registry; `None` if the task had finished already.
    listing: Option<(HomeRef, u32)>,
}

impl AbortHandle {
    pub(in crate::task) fn new(header: &Header) -> Self {
        let listing = header.home.registry().list_abortable(header).map(|key| (header.home.clone(), key));
        AbortHandle { id: header.id, listing }
    }

    pub(in crate::task) fn finished(id: Id) -> Self {
        AbortHandle { id, listing: None }
    }

    /// Asks the runtime to cancel the task; see [`JoinHandle::abort`](crate::task::JoinHandle::abort).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(std::future::pending::<()>());
    /// let abort = task.abort_handle();
    /// std::thread::spawn(move || abort.abort());
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        if let Some((home, key)) = &self.listing {
            home.registry().abort_listed(self.id, *key);
        }
    }

    /// Returns whether the task has finished or was cancelled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(std::future::pending::<()>());
    /// let abort = task.abort_handle();
    /// assert!(!abort.is_finished());
    /// abort.abort();
    /// assert!(task.await.is_err());
    /// assert!(abort.is_finished());
    /// # });
    /// ```
    pub fn is_finished(&self) -> bool {
        !self.listing.as_ref().is_some_and(|(home, key)| home.registry().is_alive(self.id, *key))
    }

    /// Returns the id of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(async {});
    /// assert_eq!(task.abort_handle().id(), task.id());
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }
}

impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id).finish()
    }
}
