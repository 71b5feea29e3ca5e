use super::*;
use crate::aggregate::AggregateEvent as _;
use crate::aggregate::given::given;
use crate::kernel::Personal;

fn id() -> MessageId {
    "msg_0192f0c1a00070008000000000000001".parse().unwrap()
}

fn notice(channels: &[Channel]) -> Notice {
    Notice {
        id: id(),
        category: Category::Security,
        subject: "Your password was changed".into(),
        body: Personal::new("If it was not you, call us.".into()),
        channels: channels.iter().copied().collect(),
        to: None,
        about: BTreeMap::new(),
    }
}

fn posted(channels: &[Channel]) -> MessagesEvent {
    MessagesEvent::Posted(Box::new(notice(channels)))
}

#[test]
fn a_message_is_handed_over_once_by_each_way() {
    let deliver = |channel| MessagesCommand::Deliver { id: id(), channel };
    let delivered = |channel| MessagesEvent::Delivered { id: id(), channel };
    let events = [posted(&[Channel::Sms, Channel::Email])];
    given::<Messages>(&events).when(deliver(Channel::Sms)).then(&[delivered(Channel::Sms)]);
    given::<Messages>(&events).when(deliver(Channel::Push)).then(&[]);
    let half = [events[0].clone(), delivered(Channel::Sms)];
    given::<Messages>(&half).when(deliver(Channel::Sms)).then(&[]);
    let mut state = Messages::default();
    half.iter().for_each(|event| state.evolve(event));
    assert_eq!(state.outgoing().map(|n| n.channels.len()).collect::<Vec<_>>(), [1]);
    let give_up = MessagesCommand::GiveUp { id: id(), channel: Channel::Email };
    let undelivered = MessagesEvent::Undelivered { id: id(), channel: Channel::Email };
    given::<Messages>(&half).when(give_up.clone()).then(std::slice::from_ref(&undelivered));
    state.evolve(&undelivered);
    assert!(state.decide(give_up).unwrap().is_empty());
    assert_eq!(state.outgoing().count(), 0);
}

#[test]
fn a_message_is_deleted_once_and_sent_all_the_same() {
    let delete = MessagesCommand::Delete { id: id() };
    let deleted = MessagesEvent::Deleted { id: id() };
    let events = [posted(&[Channel::Email]), deleted.clone()];
    given::<Messages>(&events[..1]).when(delete.clone()).then(&[deleted]);
    given::<Messages>(&events).when(delete.clone()).then_refused("NOT_FOUND");
    given::<Messages>(&[]).when(delete).then_refused("NOT_FOUND");
    let mut state = Messages::default();
    events.iter().for_each(|event| state.evolve(event));
    assert_eq!(state.outgoing().count(), 1);
}

#[test]
fn only_what_is_to_be_sent_orders_its_sending() {
    assert!(posted(&[]).dues().is_empty());
    assert_eq!(posted(&[Channel::Push]).dues()[0].task, DELIVER);
}
