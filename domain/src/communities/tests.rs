use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::aggregate::given::given;
use crate::kernel::{Amount, Currency, Frequency, MandateId, Personal, TransactionId};

fn id<T: std::str::FromStr>(prefix: &str, n: u8) -> T
where
    T::Err: std::fmt::Debug,
{
    format!("{prefix}_0192f0c1a0007000800000000000{n:04x}").parse().unwrap()
}

fn user(n: u8) -> UserId {
    id("usr", n)
}

fn participant(n: u8) -> ParticipantId {
    id("par", n)
}

fn invitation(n: u8) -> InvitationId {
    id("inv", n)
}

fn withdrawal() -> WithdrawalId {
    id("wdr", 1)
}

fn paid() -> TransactionId {
    id("txn", 1)
}

fn amount() -> Amount {
    500.try_into().unwrap()
}

fn now() -> Timestamp {
    "2026-11-01T09:30:00Z".parse().unwrap()
}

fn later() -> Timestamp {
    now() + SignedDuration::from_hours(24)
}

fn rules(seats: u32, policy: WithdrawalPolicy) -> Rules {
    Rules {
        texts: Vec::new(),
        seats,
        is_private: false,
        auto_approve: true,
        contribution_amount: Some(amount()),
        contribution_frequency: Some(Frequency::Monthly),
        withdrawal_policy: policy,
    }
}

/// User 1 administers it.
fn created(rules: Rules) -> CommunityEvent {
    CommunityEvent::Created(Box::new(Created {
        admin: user(1),
        participant: participant(1),
        holder: user(200),
        account: "1000000024".into(),
        currency: Currency::NGN,
        name: "Esusu".into(),
        description: None,
        category: Category::Savings,
        logo: None,
        tags: Vec::new(),
        rules,
    }))
}

fn joined(n: u8) -> CommunityEvent {
    CommunityEvent::Joined { participant: participant(n), user: user(n), invitation: None }
}

/// Users 1 to `people` are in it.
fn with(people: u8, rules: Rules) -> Vec<CommunityEvent> {
    std::iter::once(created(rules)).chain((2..=people).map(joined)).collect()
}

fn ask_at(n: u8, now: Timestamp) -> CommunityCommand {
    CommunityCommand::Ask(NewRequest {
        invitation: invitation(n),
        user: user(n),
        participant: participant(n),
        now,
        expires_at: later(),
    })
}

fn ask(n: u8) -> CommunityCommand {
    ask_at(n, now())
}

fn email(n: u8) -> Contacts {
    Contacts { email: Some(Personal::new(format!("user{n}@example.com"))), phone_number: None }
}

fn invited(n: u8) -> CommunityEvent {
    CommunityEvent::Invited(Box::new(Invited {
        id: invitation(n),
        by: user(1),
        contacts: email(n),
        name: None,
        role: Role::Member,
        message: None,
        expires_at: later(),
    }))
}

fn answer(n: u8, contacts: Contacts, accept: bool, now: Timestamp) -> CommunityCommand {
    CommunityCommand::Answer(Box::new(Answer {
        invitation: invitation(n),
        user: user(n),
        contacts,
        accept,
        participant: participant(n),
        now,
    }))
}

fn withdraw(by: u8, paid_by: Option<TransactionId>) -> CommunityCommand {
    let destination = "1000000008".into();
    CommunityCommand::Withdraw(Box::new(NewWithdrawal {
        id: withdrawal(),
        by: user(by),
        amount: amount(),
        destination,
        narration: None,
        paid_by,
    }))
}

fn requested(by: u8) -> CommunityEvent {
    CommunityEvent::WithdrawalRequested(Box::new(WithdrawalRequested {
        id: withdrawal(),
        participant: participant(by),
        amount: amount(),
        destination: "1000000008".into(),
        narration: None,
    }))
}

fn voted(by: u8, approve: bool) -> CommunityEvent {
    CommunityEvent::WithdrawalVoted { id: withdrawal(), by: user(by), approve }
}

fn was_paid(participant_n: u8) -> CommunityEvent {
    CommunityEvent::WithdrawalPaid { id: withdrawal(), participant: participant(participant_n), by: paid() }
}

fn vote(by: u8, approve: bool, paid_by: Option<TransactionId>) -> CommunityCommand {
    CommunityCommand::Vote { id: withdrawal(), by: user(by), approve, paid_by }
}

#[test]
fn the_last_seat_is_taken_once() {
    let rules = rules(3, WithdrawalPolicy::AdminOnly);
    given::<Community>(&with(2, rules.clone())).when(ask(3)).then(&[joined(3)]);
    given::<Community>(&with(3, rules.clone())).when(ask(4)).then_refused("COMMUNITY_FULL");
    // Whoever was invited while there was a seat finds it taken.
    let full = [vec![created(rules.clone()), invited(4)], vec![joined(2), joined(3)]].concat();
    given::<Community>(&full).when(answer(4, email(4), true, now())).then_refused("COMMUNITY_FULL");
    let left = CommunityEvent::Removed { participant: participant(2), user: user(2), by: user(2) };
    let free = [full, vec![left]].concat();
    let event = CommunityEvent::Joined {
        participant: participant(4),
        user: user(4),
        invitation: Some(invitation(4)),
    };
    given::<Community>(&free).when(answer(4, email(4), true, now())).then(&[event]);
    given::<Community>(&with(2, rules)).when(ask(2)).then_refused("ALREADY_PARTICIPANT");
}

#[test]
fn an_invitation_is_for_whom_it_names_and_answered_once() {
    let asked = [created(rules(9, WithdrawalPolicy::AdminOnly)), invited(2)];
    given::<Community>(&asked).when(answer(2, email(3), true, now())).then_refused("NOT_FOUND");
    given::<Community>(&asked).when(answer(2, Contacts::default(), true, now())).then_refused("NOT_FOUND");
    given::<Community>(&asked).when(answer(2, email(2), true, later())).then_refused("INVALID_STATE");
    let shouting = Contacts { email: Some(Personal::new("USER2@Example.com".into())), phone_number: None };
    let event = CommunityEvent::Joined {
        participant: participant(2),
        user: user(2),
        invitation: Some(invitation(2)),
    };
    given::<Community>(&asked).when(answer(2, shouting, true, now())).then(std::slice::from_ref(&event));
    let denied = CommunityEvent::Denied { invitation: invitation(2), by: user(2) };
    given::<Community>(&asked).when(answer(2, email(2), false, now())).then(std::slice::from_ref(&denied));
    let yes = [asked.to_vec(), vec![event]].concat();
    given::<Community>(&yes).when(answer(2, email(2), false, now())).then_refused("INVALID_STATE");
    let no = [asked.to_vec(), vec![denied]].concat();
    given::<Community>(&no).when(answer(2, email(2), true, now())).then_refused("NOT_FOUND");
}

#[test]
fn where_nobody_joins_by_themselves_the_admin_answers() {
    let rules = Rules { auto_approve: false, ..rules(9, WithdrawalPolicy::AdminOnly) };
    let wants = CommunityEvent::Requested { invitation: invitation(3), user: user(3), expires_at: later() };
    given::<Community>(&with(2, rules.clone())).when(ask(3)).then(std::slice::from_ref(&wants));
    let asked = [with(2, rules), vec![wants.clone()]].concat();
    given::<Community>(&asked).when(ask(3)).then_refused("ALREADY_PARTICIPANT");
    // Nobody has answered in time.
    given::<Community>(&asked).when(ask_at(3, later())).then(std::slice::from_ref(&wants));
    let by = |by: u8| {
        CommunityCommand::Answer(Box::new(Answer {
            invitation: invitation(3),
            user: user(by),
            contacts: Contacts::default(),
            accept: true,
            participant: participant(3),
            now: now(),
        }))
    };
    for other in [2, 3, 4] {
        given::<Community>(&asked).when(by(other)).then_refused("NOT_FOUND");
    }
    let event = CommunityEvent::Joined {
        participant: participant(3),
        user: user(3),
        invitation: Some(invitation(3)),
    };
    given::<Community>(&asked).when(by(1)).then(&[event]);
}

#[test]
fn only_the_admin_sets_rules_and_removes_others() {
    let open = with(3, rules(9, WithdrawalPolicy::AdminOnly));
    let set = |by: u8, rules| CommunityCommand::SetRules { by: user(by), rules: Box::new(rules) };
    let fewer = rules(3, WithdrawalPolicy::Majority);
    given::<Community>(&open).when(set(2, fewer.clone())).then_refused("ADMIN_ONLY");
    given::<Community>(&open).when(set(8, fewer.clone())).then_refused("NOT_FOUND");
    let event = CommunityEvent::RulesSet { by: user(1), rules: Box::new(fewer.clone()) };
    given::<Community>(&open).when(set(1, fewer.clone())).then(&[event]);
    given::<Community>(&open)
        .when(set(1, rules(2, WithdrawalPolicy::Majority)))
        .then_refused("TOO_FEW_SEATS");
    let half = Rules { contribution_amount: None, ..fewer };
    given::<Community>(&open).when(set(1, half)).then_refused("RULES_INCOMPLETE");
    let remove = |by: u8, n: u8| CommunityCommand::Remove { participant: participant(n), by: user(by) };
    let removed =
        |by: u8| CommunityEvent::Removed { participant: participant(2), user: user(2), by: user(by) };
    given::<Community>(&open).when(remove(1, 2)).then(&[removed(1)]);
    given::<Community>(&open).when(remove(2, 2)).then(&[removed(2)]);
    given::<Community>(&open).when(remove(3, 2)).then_refused("ADMIN_ONLY");
    given::<Community>(&open).when(remove(1, 1)).then_refused("ADMIN_STAYS");
    given::<Community>(&open).when(remove(1, 7)).then_refused("NOT_FOUND");
}

#[test]
fn a_private_community_is_invited_to_by_its_admin() {
    let invite = |by: u8| {
        CommunityCommand::Invite(Box::new(NewInvitation {
            id: invitation(7),
            by: user(by),
            contacts: email(7),
            name: None,
            role: Role::Member,
            message: None,
            now: now(),
            expires_at: later(),
        }))
    };
    let private = Rules { is_private: true, ..rules(9, WithdrawalPolicy::AdminOnly) };
    given::<Community>(&with(2, private)).when(invite(2)).then_refused("ADMIN_ONLY");
    let open = with(2, rules(9, WithdrawalPolicy::AdminOnly));
    let mut community = Community::default();
    open.iter().for_each(|event| community.evolve(event));
    assert_eq!(community.decide(invite(2)).unwrap().len(), 1);
    given::<Community>(&open).when(invite(5)).then_refused("NOT_FOUND");
}

#[test]
fn money_goes_out_to_the_admin_only_where_that_is_the_policy() {
    let open = with(3, rules(9, WithdrawalPolicy::AdminOnly));
    given::<Community>(&open).when(withdraw(1, Some(paid()))).then(&[requested(1), was_paid(1)]);
    given::<Community>(&open).when(withdraw(2, Some(paid()))).then_refused("WITHDRAWAL_NOT_ALLOWED");
    given::<Community>(&open).when(withdraw(9, Some(paid()))).then_refused("NOT_FOUND");
    given::<Community>(&open).when(withdraw(1, None)).then_refused("CONFLICT");
}

#[test]
fn each_participant_has_a_turn_in_the_order_in_which_they_joined() {
    let mut history = with(3, rules(9, WithdrawalPolicy::Rotating));
    for turn in [1, 2, 3, 1, 2] {
        for other in (1..=3).filter(|other| *other != turn) {
            given::<Community>(&history)
                .when(withdraw(other, Some(paid())))
                .then_refused("WITHDRAWAL_NOT_ALLOWED");
        }
        let events = [requested(turn), was_paid(turn)];
        given::<Community>(&history).when(withdraw(turn, Some(paid()))).then(&events);
        history.extend(events);
    }
    // Whoever leaves before their turn is passed over.
    let left = |n: u8| CommunityEvent::Removed { participant: participant(n), user: user(n), by: user(n) };
    let passed_over = [history.clone(), vec![left(3)]].concat();
    given::<Community>(&passed_over).when(withdraw(1, Some(paid()))).then(&[requested(1), was_paid(1)]);
    // Whoever leaves after theirs takes nobody else's along.
    let gone = [history, vec![left(2)]].concat();
    given::<Community>(&gone).when(withdraw(3, Some(paid()))).then(&[requested(3), was_paid(3)]);
}

#[test]
fn whose_turn_it_is_is_not_said_by_ids() {
    // Two joined by way of servers whose clocks differ: the later one has the smaller id.
    let mut history = vec![created(rules(9, WithdrawalPolicy::Rotating)), joined(7), joined(3)];
    for turn in [1, 7, 3, 1, 7, 3] {
        let events = [requested(turn), was_paid(turn)];
        given::<Community>(&history).when(withdraw(turn, Some(paid()))).then(&events);
        history.extend(events);
    }
}

#[test]
fn more_than_half_must_agree() {
    let open = with(4, rules(9, WithdrawalPolicy::Majority));
    given::<Community>(&open).when(withdraw(2, Some(paid()))).then_refused("CONFLICT");
    given::<Community>(&open).when(withdraw(2, None)).then(&[requested(2), voted(2, true)]);
    let wanted = [open, vec![requested(2), voted(2, true)]].concat();
    given::<Community>(&wanted).when(vote(2, true, None)).then_refused("ALREADY_VOTED");
    given::<Community>(&wanted).when(vote(9, true, None)).then_refused("NOT_FOUND");
    // Two of four are half, not more.
    given::<Community>(&wanted).when(vote(1, true, Some(paid()))).then_refused("CONFLICT");
    given::<Community>(&wanted).when(vote(1, true, None)).then(&[voted(1, true)]);
    let half = [wanted.clone(), vec![voted(1, true)]].concat();
    given::<Community>(&half).when(vote(3, true, None)).then_refused("CONFLICT");
    given::<Community>(&half).when(vote(3, true, Some(paid()))).then(&[voted(3, true), was_paid(2)]);
    let paid_out = [half.clone(), vec![voted(3, true), was_paid(2)]].concat();
    given::<Community>(&paid_out).when(vote(4, true, Some(paid()))).then_refused("INVALID_STATE");
    // Half of them against it are enough to end it.
    let against = [wanted, vec![voted(3, false)]].concat();
    let rejected = CommunityEvent::WithdrawalRejected { id: withdrawal() };
    given::<Community>(&against).when(vote(4, false, None)).then(&[voted(4, false), rejected]);
    // Votes of people who have left do not count.
    let left = CommunityEvent::Removed { participant: participant(1), user: user(1), by: user(1) };
    let left = [half, vec![left]].concat();
    given::<Community>(&left).when(vote(3, true, Some(paid()))).then(&[voted(3, true), was_paid(2)]);
}

#[test]
fn contributions_are_what_the_rules_say() {
    let mandate: MandateId = id("mnd", 1);
    let after = |n: u8, amount, before| CommunityCommand::Pledge { user: user(n), mandate, amount, before };
    let pledge = |n: u8, amount| after(n, amount, None);
    let open = with(2, rules(9, WithdrawalPolicy::AdminOnly));
    let pledged = CommunityEvent::Pledged { participant: participant(2), mandate, amount: amount() };
    given::<Community>(&open).when(pledge(2, amount())).then(std::slice::from_ref(&pledged));
    // Of two at once, the second did not see the first.
    let once = [open.clone(), vec![pledged.clone()]].concat();
    given::<Community>(&once).when(pledge(2, amount())).then_refused("ALREADY_CONTRIBUTING");
    given::<Community>(&once).when(after(2, amount(), Some(mandate))).then(&[pledged]);
    given::<Community>(&open).when(pledge(2, 1.try_into().unwrap())).then_refused("CONFLICT");
    given::<Community>(&open).when(pledge(7, amount())).then_refused("NOT_FOUND");
    let free = Rules {
        contribution_amount: None,
        contribution_frequency: None,
        ..rules(9, WithdrawalPolicy::AdminOnly)
    };
    given::<Community>(&with(2, free)).when(pledge(2, amount())).then_refused("NO_CONTRIBUTION_RULE");
}

proptest! {
    #[test]
    fn there_is_never_one_too_many(seats in 1_u32..6, steps in proptest::collection::vec((2_u8..12, any::<bool>()), 0..60)) {
        let mut community = Community::default();
        community.evolve(&created(rules(seats, WithdrawalPolicy::AdminOnly)));
        for (n, joins) in steps {
            let remove = CommunityCommand::Remove { participant: participant(n), by: user(1) };
            let command = if joins { ask(n) } else { remove };
            for event in community.decide(command).unwrap_or_default() {
                community.evolve(&event);
            }
            prop_assert!(community.open().unwrap().members.len() <= seats as usize);
        }
    }
}
