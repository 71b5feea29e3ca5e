//! What can be asked about a rebuild.

use super::Ordered;

/// Commands about the rebuilds of a read model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebuildCommand {
    /// Staff want one.
    Order {
        /// What will have been ordered.
        order: Ordered,
        /// Whether one is being carried out, by whatever server.
        is_running: bool,
    },
}
