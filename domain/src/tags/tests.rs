use std::sync::LazyLock;

use super::*;
use crate::aggregate::given::given;
use crate::kernel::Sources;
use crate::kernel::time::tests::sources;

static SOURCES: LazyLock<Sources> = LazyLock::new(sources);

/// Each tag has an id of its own.
fn tag(name: &str) -> Tag {
    Tag {
        id: TagId::mint(&SOURCES),
        name: Personal::new(name.into()),
        color: None,
        icon: None,
        description: None,
        is_default: false,
        is_active: true,
    }
}

fn created(tag: &Tag) -> TagsEvent {
    TagsEvent::Created(Box::new(tag.clone()))
}

fn create(tag: &Tag) -> TagsCommand {
    TagsCommand::Create(Box::new(tag.clone()))
}

fn transaction() -> TransactionId {
    TransactionId::mint(&SOURCES)
}

fn place(transaction_id: TransactionId, tags: &[&Tag]) -> TagsCommand {
    TagsCommand::Place { transaction_id, tag_ids: tags.iter().map(|tag| tag.id).collect(), notes: None }
}

fn placed(transaction_id: TransactionId, tags: &[&Tag]) -> TagsEvent {
    let tags = tags.iter().map(|tag| PlacedTag { id: tag.id, name: tag.name.clone() }).collect();
    TagsEvent::Placed(Box::new(Placed { transaction_id, tags, notes: None }))
}

fn removed(tag: &Tag, transactions: usize) -> TagsEvent {
    TagsEvent::Removed { id: tag.id, name: tag.name.clone(), transactions }
}

#[test]
fn a_name_is_used_once_whatever_its_case() {
    let (food, shouted, fun) = (tag("Food & Drink"), tag(" FOOD & drink "), tag("Fun"));
    given::<Tags>(&[]).when(create(&food)).then(&[created(&food)]);
    given::<Tags>(&[created(&food)]).when(create(&shouted)).then_refused("TAG_EXISTS");
    let both = [created(&food), created(&fun)];
    let rename = |id, name: &str| {
        let change = TagChange { name: Some(Personal::new(name.into())), ..TagChange::default() };
        TagsCommand::Change { id, change: Box::new(change) }
    };
    given::<Tags>(&both).when(rename(fun.id, "food & DRINK")).then_refused("TAG_EXISTS");
    // A tag does not stand in its own way.
    let louder = Tag { name: Personal::new("FOOD & DRINK".into()), ..food.clone() };
    let changed = TagsEvent::Changed(Box::new(louder.clone()));
    given::<Tags>(&both).when(rename(food.id, "FOOD & DRINK")).then(std::slice::from_ref(&changed));
    // A name that is free again can be taken again.
    given::<Tags>(&[created(&food), removed(&food, 0)]).when(create(&shouted)).then(&[created(&shouted)]);
}

#[test]
fn a_tag_that_goes_says_how_many_transactions_it_was_on() {
    let (food, fun) = (tag("Food"), tag("Fun"));
    let (lunch, cinema) = (transaction(), transaction());
    let before = [
        created(&food),
        created(&fun),
        placed(lunch, &[&food]),
        placed(cinema, &[&fun, &food]),
        // Again, and now only the one.
        placed(cinema, &[&food]),
    ];
    given::<Tags>(&before).when(TagsCommand::Remove { id: food.id }).then(&[removed(&food, 2)]);
    given::<Tags>(&before).when(TagsCommand::Remove { id: fun.id }).then(&[removed(&fun, 0)]);
    let after: Vec<_> = before.into_iter().chain([removed(&food, 2)]).collect();
    given::<Tags>(&after).when(TagsCommand::Remove { id: food.id }).then_refused("NOT_FOUND");
    given::<Tags>(&after).when(place(lunch, &[&food])).then_refused("NOT_FOUND");
}

#[test]
fn a_transaction_carries_what_was_placed_on_it_last() {
    let (food, fun) = (tag("Food"), tag("Fun"));
    let lunch = transaction();
    let both = [created(&food), created(&fun)];
    given::<Tags>(&both).when(place(lunch, &[&fun, &food, &fun])).then(&[placed(lunch, &[&fun, &food])]);
    given::<Tags>(&both).when(place(lunch, &[])).then(&[placed(lunch, &[])]);
}

#[test]
fn an_inactive_tag_stays_where_it_is_and_goes_nowhere_else() {
    let (food, retired) = (tag("Food"), Tag { is_active: false, ..tag("Old") });
    let (lunch, dinner) = (transaction(), transaction());
    let active = Tag { is_active: true, ..retired.clone() };
    let before = [
        created(&food),
        created(&active),
        placed(lunch, &[&active]),
        TagsEvent::Changed(Box::new(retired.clone())),
    ];
    given::<Tags>(&before).when(place(dinner, &[&retired])).then_refused("INVALID_STATE");
    given::<Tags>(&before).when(place(lunch, &[&retired, &food])).then(&[placed(lunch, &[&retired, &food])]);
    given::<Tags>(&before).when(TagsCommand::Remove { id: retired.id }).then(&[removed(&retired, 1)]);
}

#[test]
fn lists_and_transactions_have_their_most() {
    let tags: Vec<Tag> = (0..MOST).map(|n| tag(&n.to_string())).collect();
    let full: Vec<_> = tags.iter().map(created).collect();
    given::<Tags>(&full).when(create(&tag("one more"))).then_refused("LIMIT_EXCEEDED");
    let many: Vec<&Tag> = tags.iter().take(MOST_ON_ONE + 1).collect();
    given::<Tags>(&full).when(place(transaction(), &many)).then_refused("LIMIT_EXCEEDED");
    let most = &many[..MOST_ON_ONE];
    let placed: Vec<_> = (0..MOST_PLACED / MOST_ON_ONE).map(|_| placed(transaction(), most)).collect();
    let stuffed: Vec<_> = full.into_iter().chain(placed).collect();
    given::<Tags>(&stuffed).when(place(transaction(), &most[..1])).then_refused("LIMIT_EXCEEDED");
    // There is always room for less.
    given::<Tags>(&stuffed)
        .when(TagsCommand::Remove { id: most[0].id })
        .then(&[removed(most[0], MOST_PLACED / MOST_ON_ONE)]);
}
