//! The edits by which locks and semaphores tell which task has locked them or has permits, and where it has
//! called the function. gmp-exec's `lost::locks` keeps that, if a setting asks for it.
//!
//! The place of an asynchronous call is that of the function, not of its polls, so the function is no `async
//! fn`: it takes the place from its caller and returns an `async` block, whose future keeps the place. An
//! `async fn` can't have `#[track_caller]`.

use super::edits::Edit;

/// Each text must be in its file exactly once.
pub(super) const HOLDERS: &[Edit] = &[
    Edit {
        name: "holders: the place of a lock that was tried",
        file: "src/sync/batch_semaphore.rs",
        find: "    pub(crate) fn try_acquire(&self, num_permits: usize)",
        replace: "    #[track_caller]\n    pub(crate) fn try_acquire(&self, num_permits: usize)",
    },
    Edit {
        name: "holders: a lock that was tried",
        file: "src/sync/batch_semaphore.rs",
        find: "                Ok(_) => {\n                    // TODO: Instrument once issue has been solved\n                    return Ok(());\n",
        replace: "                Ok(_) => {\n                    self.locked(num_permits >> Self::PERMIT_SHIFT, std::panic::Location::caller());\n                    return Ok(());\n",
    },
    Edit {
        name: "holders: a lock",
        file: "src/sync/batch_semaphore.rs",
        find: "    pub(crate) fn acquire(&self, num_permits: usize) -> Acquire<'_> {",
        replace: "    /// The running task has acquired so many permits, by a call at that place.\n    #[inline]\n    pub(crate) fn locked(&self, permits: usize, called: &'static std::panic::Location<'static>) {\n        self.origin.locked(self.address(), permits, called);\n    }\n\n    pub(crate) fn acquire(&self, num_permits: usize) -> Acquire<'_> {",
    },
    Edit {
        name: "holders: the end of a guard",
        file: "src/sync/batch_semaphore.rs",
        find: "        // Assign permits to the wait queue\n        self.add_permits_locked(added, self.waiters.lock());\n",
        replace: "        self.origin.unlocked(self.address(), added);\n        // Assign permits to the wait queue\n        self.add_permits_locked(added, self.waiters.lock());\n",
    },
    Edit {
        name: "holders: the end of a semaphore",
        file: "src/sync/semaphore.rs",
        find: "impl Semaphore {\n",
        replace: "impl Drop for Semaphore {\n    fn drop(&mut self) {\n        self.ll_sem.origin.ended(self.ll_sem.address());\n    }\n}\n\nimpl Semaphore {\n",
    },
    Edit {
        name: "holders: Mutex::lock",
        file: "src/sync/mutex.rs",
        find: "    pub async fn lock(&self) -> MutexGuard<'_, T> {\n",
        replace: "    #[track_caller]\n    pub fn lock(&self) -> impl std::future::Future<Output = MutexGuard<'_, T>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of Mutex::lock",
        file: "src/sync/mutex.rs",
        find: "        guard\n    }\n\n    /// Blockingly locks this `Mutex`. When the lock has been acquired, function returns a\n    /// [`MutexGuard`].\n",
        replace: "        self.s.locked(1, called);\n        guard\n        }\n    }\n\n    /// Blockingly locks this `Mutex`. When the lock has been acquired, function returns a\n    /// [`MutexGuard`].\n",
    },
    Edit {
        name: "holders: Mutex::lock_owned",
        file: "src/sync/mutex.rs",
        find: "    pub async fn lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {\n",
        replace: "    #[track_caller]\n    pub fn lock_owned(self: Arc<Self>) -> impl std::future::Future<Output = OwnedMutexGuard<T>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of Mutex::lock_owned",
        file: "src/sync/mutex.rs",
        find: "        guard\n    }\n\n    async fn acquire(&self) {\n",
        replace: "        guard.lock.s.locked(1, called);\n        guard\n        }\n    }\n\n    async fn acquire(&self) {\n",
    },
    Edit {
        name: "holders: the permit of a mutex",
        file: "src/sync/mutex.rs",
        find: "    async fn acquire(&self) {\n",
        replace: "    fn acquire(&self) -> impl std::future::Future<Output = ()> + '_ {\n        async move {\n",
    },
    Edit {
        name: "holders: the end of the permit of a mutex",
        file: "src/sync/mutex.rs",
        find: "            unreachable!()\n        });\n    }\n",
        replace: "            unreachable!()\n        });\n        }\n    }\n",
    },
    Edit {
        name: "holders: RwLock::read",
        file: "src/sync/rwlock.rs",
        find: "    pub async fn read(&self) -> RwLockReadGuard<'_, T> {\n",
        replace: "    #[track_caller]\n    pub fn read(&self) -> impl std::future::Future<Output = RwLockReadGuard<'_, T>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of RwLock::read",
        file: "src/sync/rwlock.rs",
        find: "        guard\n    }\n\n    /// Blockingly locks this `RwLock` with shared read access.\n",
        replace: "        self.s.locked(1, called);\n        guard\n        }\n    }\n\n    /// Blockingly locks this `RwLock` with shared read access.\n",
    },
    Edit {
        name: "holders: RwLock::write",
        file: "src/sync/rwlock.rs",
        find: "    pub async fn write(&self) -> RwLockWriteGuard<'_, T> {\n",
        replace: "    #[track_caller]\n    pub fn write(&self) -> impl std::future::Future<Output = RwLockWriteGuard<'_, T>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of RwLock::write",
        file: "src/sync/rwlock.rs",
        find: "        guard\n    }\n\n    /// Blockingly locks this `RwLock` with exclusive write access.\n",
        replace: "        self.s.locked(self.mr as usize, called);\n        guard\n        }\n    }\n\n    /// Blockingly locks this `RwLock` with exclusive write access.\n",
    },
    Edit {
        name: "holders: RwLock::read_owned",
        file: "src/sync/rwlock.rs",
        find: "    pub async fn read_owned(self: Arc<Self>) -> OwnedRwLockReadGuard<T> {\n",
        replace: "    #[track_caller]\n    pub fn read_owned(self: Arc<Self>) -> impl std::future::Future<Output = OwnedRwLockReadGuard<T>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of RwLock::read_owned",
        file: "src/sync/rwlock.rs",
        find: "        guard\n    }\n\n    /// Attempts to acquire this `RwLock` with shared read access.\n",
        replace: "        guard.lock.s.locked(1, called);\n        guard\n        }\n    }\n\n    /// Attempts to acquire this `RwLock` with shared read access.\n",
    },
    Edit {
        name: "holders: RwLock::write_owned",
        file: "src/sync/rwlock.rs",
        find: "    pub async fn write_owned(self: Arc<Self>) -> OwnedRwLockWriteGuard<T> {\n",
        replace: "    #[track_caller]\n    pub fn write_owned(self: Arc<Self>) -> impl std::future::Future<Output = OwnedRwLockWriteGuard<T>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of RwLock::write_owned",
        file: "src/sync/rwlock.rs",
        find: "        guard\n    }\n\n    /// Attempts to acquire this `RwLock` with exclusive write access.\n",
        replace: "        guard.lock.s.locked(guard.permits_acquired as usize, called);\n        guard\n        }\n    }\n\n    /// Attempts to acquire this `RwLock` with exclusive write access.\n",
    },
    Edit {
        name: "holders: Semaphore::acquire",
        file: "src/sync/semaphore.rs",
        find: "    pub async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {\n",
        replace: "    #[track_caller]\n    pub fn acquire(&self) -> impl std::future::Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of Semaphore::acquire",
        file: "src/sync/semaphore.rs",
        find: "        inner.await?;\n        Ok(SemaphorePermit {\n            sem: self,\n            permits: 1,\n        })\n    }\n",
        replace: "        inner.await?;\n        self.ll_sem.locked(1, called);\n        Ok(SemaphorePermit {\n            sem: self,\n            permits: 1,\n        })\n        }\n    }\n",
    },
    Edit {
        name: "holders: Semaphore::acquire_many",
        file: "src/sync/semaphore.rs",
        find: "    pub async fn acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {\n",
        replace: "    #[track_caller]\n    pub fn acquire_many(&self, n: u32) -> impl std::future::Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of Semaphore::acquire_many",
        file: "src/sync/semaphore.rs",
        find: "        self.ll_sem.acquire(n as usize).await?;\n\n        Ok(SemaphorePermit {\n            sem: self,\n            permits: n as usize,\n        })\n    }\n",
        replace: "        self.ll_sem.acquire(n as usize).await?;\n\n        self.ll_sem.locked(n as usize, called);\n        Ok(SemaphorePermit {\n            sem: self,\n            permits: n as usize,\n        })\n        }\n    }\n",
    },
    Edit {
        name: "holders: Semaphore::acquire_owned",
        file: "src/sync/semaphore.rs",
        find: "    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {\n",
        replace: "    #[track_caller]\n    pub fn acquire_owned(self: Arc<Self>) -> impl std::future::Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of Semaphore::acquire_owned",
        file: "src/sync/semaphore.rs",
        find: "        inner.await?;\n        Ok(OwnedSemaphorePermit {\n            sem: self,\n            permits: 1,\n        })\n    }\n",
        replace: "        inner.await?;\n        self.ll_sem.locked(1, called);\n        Ok(OwnedSemaphorePermit {\n            sem: self,\n            permits: 1,\n        })\n        }\n    }\n",
    },
    Edit {
        name: "holders: Semaphore::acquire_many_owned",
        file: "src/sync/semaphore.rs",
        find: "    pub async fn acquire_many_owned(\n        self: Arc<Self>,\n        n: u32,\n    ) -> Result<OwnedSemaphorePermit, AcquireError> {\n",
        replace: "    #[track_caller]\n    pub fn acquire_many_owned(\n        self: Arc<Self>,\n        n: u32,\n    ) -> impl std::future::Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {\n        let called = std::panic::Location::caller();\n        async move {\n",
    },
    Edit {
        name: "holders: the end of Semaphore::acquire_many_owned",
        file: "src/sync/semaphore.rs",
        find: "        inner.await?;\n        Ok(OwnedSemaphorePermit {\n            sem: self,\n            permits: n as usize,\n        })\n    }\n",
        replace: "        inner.await?;\n        self.ll_sem.locked(n as usize, called);\n        Ok(OwnedSemaphorePermit {\n            sem: self,\n            permits: n as usize,\n        })\n        }\n    }\n",
    },
    Edit {
        name: "holders: the place of Mutex::try_lock",
        file: "src/sync/mutex.rs",
        find: "    pub fn try_lock(&self)",
        replace: "    #[track_caller]\n    pub fn try_lock(&self)",
    },
    Edit {
        name: "holders: the place of Mutex::try_lock_owned",
        file: "src/sync/mutex.rs",
        find: "    pub fn try_lock_owned(self: Arc<Self>)",
        replace: "    #[track_caller]\n    pub fn try_lock_owned(self: Arc<Self>)",
    },
    Edit {
        name: "holders: the place of RwLock::try_read",
        file: "src/sync/rwlock.rs",
        find: "    pub fn try_read(&self)",
        replace: "    #[track_caller]\n    pub fn try_read(&self)",
    },
    Edit {
        name: "holders: the place of RwLock::try_read_owned",
        file: "src/sync/rwlock.rs",
        find: "    pub fn try_read_owned(self: Arc<Self>)",
        replace: "    #[track_caller]\n    pub fn try_read_owned(self: Arc<Self>)",
    },
    Edit {
        name: "holders: the place of RwLock::try_write",
        file: "src/sync/rwlock.rs",
        find: "    pub fn try_write(&self)",
        replace: "    #[track_caller]\n    pub fn try_write(&self)",
    },
    Edit {
        name: "holders: the place of RwLock::try_write_owned",
        file: "src/sync/rwlock.rs",
        find: "    pub fn try_write_owned(self: Arc<Self>)",
        replace: "    #[track_caller]\n    pub fn try_write_owned(self: Arc<Self>)",
    },
    Edit {
        name: "holders: the place of Semaphore::try_acquire",
        file: "src/sync/semaphore.rs",
        find: "    pub fn try_acquire(&self)",
        replace: "    #[track_caller]\n    pub fn try_acquire(&self)",
    },
    Edit {
        name: "holders: the place of Semaphore::try_acquire_many",
        file: "src/sync/semaphore.rs",
        find: "    pub fn try_acquire_many(&self, n: u32)",
        replace: "    #[track_caller]\n    pub fn try_acquire_many(&self, n: u32)",
    },
    Edit {
        name: "holders: the place of Semaphore::try_acquire_owned",
        file: "src/sync/semaphore.rs",
        find: "    pub fn try_acquire_owned(self: Arc<Self>)",
        replace: "    #[track_caller]\n    pub fn try_acquire_owned(self: Arc<Self>)",
    },
    Edit {
        name: "holders: the place of Semaphore::try_acquire_many_owned",
        file: "src/sync/semaphore.rs",
        find: "    pub fn try_acquire_many_owned(\n        self: Arc<Self>,",
        replace: "    #[track_caller]\n    pub fn try_acquire_many_owned(\n        self: Arc<Self>,",
    },
];
