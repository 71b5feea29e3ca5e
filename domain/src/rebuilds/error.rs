//! Why a rebuild is refused.

crate::rejections! {
    /// Refusals of a rebuild.
    pub enum RebuildError {
        /// One at a time for each read model.
        Running: Conflict "REBUILD_RUNNING" = "the read model is being rebuilt or checked",
    }
}
