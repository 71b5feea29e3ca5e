//! Why a plan's command is refused.

crate::rejections! {
    /// Refusals of a savings plan.
    pub enum PlanError {
        /// No such plan.
        Unknown: NotFound "NOT_FOUND" = "no such savings plan",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the savings plan is {state}",
        /// The day is done, or not the next one.
        NotDue: Conflict "NOT_DUE" = "nothing is due now",
        /// A plan that would be over before it begins.
        MaturityPassed: Unprocessable "MATURITY_PASSED" = "maturityDate must be in the future",
    }
}
