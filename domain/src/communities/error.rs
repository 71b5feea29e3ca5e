//! Why a community command is refused.

use super::{InvitationStatus, WithdrawalStatus};

crate::rejections! {
    /// Refusals of a community.
    pub enum CommunityError {
        /// No such community, or none of the caller's.
        Unknown: NotFound "NOT_FOUND" = "no such community",
        /// The id was used before.
        Exists: Conflict "INVALID_STATE" = "the community exists already",
        /// No such participant.
        UnknownParticipant: NotFound "NOT_FOUND" = "no such participant",
        /// No such invitation, or somebody else's.
        UnknownInvitation: NotFound "NOT_FOUND" = "no such invitation",
        /// No such withdrawal.
        UnknownWithdrawal: NotFound "NOT_FOUND" = "no such withdrawal",
        /// Only the admin may.
        NotAdmin: Forbidden "ADMIN_ONLY" = "only the admin of the community may do this",
        /// The admin cannot leave.
        AdminStays: Conflict "ADMIN_STAYS" = "the admin cannot be removed",
        /// Every seat is taken.
        Full {
            /// How many there are.
            seats: u32 => "maxParticipants",
        }: Conflict "COMMUNITY_FULL" = "all {seats} seats are taken",
        /// More people are in it than that.
        TooFewSeats {
            /// How many.
            participants: u32 => "participants",
        }: Unprocessable "TOO_FEW_SEATS" = "the community has {participants} participants",
        /// They are in it.
        AlreadyIn: Conflict "ALREADY_PARTICIPANT" = "already a participant",
        /// Too many wait for an answer.
        TooManyOpen {
            /// How many may.
            most: usize => "maximum",
        }: Unprocessable "LIMIT_EXCEEDED" = "at most {most} may wait for an answer",
        /// It was answered, or is too old.
        Answered {
            /// What became of it.
            status: InvitationStatus => "currentState",
        }: Conflict "INVALID_STATE" = "the invitation is {status}",
        /// Contributions need an amount and a frequency.
        RulesIncomplete: Unprocessable "RULES_INCOMPLETE" =
            "contributionAmount and contributionFrequency go together",
        /// The rules ask for none.
        NoContributions: Unprocessable "NO_CONTRIBUTION_RULE" = "the rules ask for no contributions",
        /// They do already.
        AlreadyContributing: Conflict "ALREADY_CONTRIBUTING" = "a mandate contributes for you already",
        /// There is money that was paid in under another policy.
        FundsHeld: Conflict "FUNDS_HELD" =
            "the withdrawal policy cannot change while the community holds money",
        /// Not by this policy.
        MayNotWithdraw: Forbidden "WITHDRAWAL_NOT_ALLOWED" =
            "the withdrawal policy does not let you take money out now",
        /// It is decided.
        Decided {
            /// How.
            status: WithdrawalStatus => "currentState",
        }: Conflict "INVALID_STATE" = "the withdrawal is {status}",
        /// They have said what they think.
        AlreadyVoted: Conflict "ALREADY_VOTED" = "you have voted on this withdrawal",
        /// Somebody else did something in the meantime; the use case looks again.
        Raced: Conflict "CONFLICT" = "the community has changed; try again",
    }
}
