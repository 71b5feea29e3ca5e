use jiff::Timestamp;

use super::*;
use crate::aggregate::given::given;

fn at() -> Timestamp {
    "2026-11-01T09:30:00Z".parse().unwrap()
}

fn settings(filters: &[&str]) -> Box<Settings> {
    Box::new(Settings {
        url: "https://example.com/hooks".into(),
        event_types: filters.iter().map(|filter| filter.parse().unwrap()).collect(),
        description: None,
    })
}

fn created() -> WebhookEvent {
    WebhookEvent::Created(settings(&["payment.*"]))
}

fn disabled() -> WebhookEvent {
    WebhookEvent::Disabled { reason: DisableReason::Failing }
}

#[test]
fn an_address_is_told_once_it_is_created() {
    given::<Webhook>(&[])
        .when(WebhookCommand::Create(settings(&["*"])))
        .then(&[WebhookEvent::Created(settings(&["*"]))]);
    given::<Webhook>(&[created()])
        .when(WebhookCommand::Create(settings(&["*"])))
        .then_refused("INVALID_STATE");
}

#[test]
fn what_is_so_already_is_no_change() {
    given::<Webhook>(&[created()]).when(WebhookCommand::Change(settings(&["payment.*"]))).then(&[]);
    given::<Webhook>(&[created()])
        .when(WebhookCommand::Change(settings(&["*"])))
        .then(&[WebhookEvent::Changed(settings(&["*"]))]);
}

#[test]
fn the_old_secret_signs_for_a_day_beside_the_new_one() {
    let rotated = WebhookEvent::SecretRotated { generation: 1, old_until: at() + OVERLAP };
    given::<Webhook>(&[created()])
        .when(WebhookCommand::RotateSecret { at: at() })
        .then(std::slice::from_ref(&rotated));
    let mut webhook = Webhook::default();
    webhook.evolve(&created());
    let generations =
        |webhook: &Webhook, now| webhook.endpoint().unwrap().generations(now).collect::<Vec<_>>();
    assert_eq!(generations(&webhook, at()), [0]);
    webhook.evolve(&rotated);
    assert_eq!(generations(&webhook, at()), [1, 0]);
    assert_eq!(generations(&webhook, at() + OVERLAP), [1]);
}

#[test]
fn one_that_is_disabled_hears_nothing_until_it_is_enabled() {
    given::<Webhook>(&[created()])
        .when(WebhookCommand::Disable { reason: DisableReason::Failing })
        .then(&[disabled()]);
    for command in [
        WebhookCommand::Test,
        WebhookCommand::Replay { after: 0 },
        WebhookCommand::Redeliver { position: 1 },
        WebhookCommand::Disable { reason: DisableReason::Gone },
    ] {
        given::<Webhook>(&[created(), disabled()]).when(command).then_refused("INVALID_STATE");
    }
    given::<Webhook>(&[created(), disabled()]).when(WebhookCommand::Enable).then(&[WebhookEvent::Enabled]);
    given::<Webhook>(&[created()]).when(WebhookCommand::Enable).then_refused("INVALID_STATE");
}

#[test]
fn what_is_removed_is_gone() {
    for events in [vec![], vec![created(), WebhookEvent::Removed]] {
        for command in [WebhookCommand::Test, WebhookCommand::Enable, WebhookCommand::Remove] {
            given::<Webhook>(&events).when(command).then_refused("NOT_FOUND");
        }
    }
    given::<Webhook>(&[created(), WebhookEvent::Removed])
        .when(WebhookCommand::Create(settings(&["*"])))
        .then_refused("NOT_FOUND");
}

#[test]
fn filters_name_events_that_are_told() {
    for good in ["*", "payment.*", "payment.completed", "webhook.tested"] {
        assert!(good.parse::<EventFilter>().is_ok(), "{good}");
    }
    for bad in
        ["", "pay*", "payment", "payment.", "payment.accepted", "session.*", "mfa.passed", "webhook.*", "**"]
    {
        assert_eq!(bad.parse::<EventFilter>(), Err(NoSuchEvents), "{bad}");
    }
    let names = |filters: &[&str]| EventFilter::names(&settings(filters).event_types);
    assert_eq!(
        names(&["plan.ended", "plan.*"]),
        ["plan.began", "plan.contributed", "plan.skipped", "plan.matured", "plan.ended"]
    );
    // A test is sent to whoever is tested, whatever they want to hear.
    assert!(!names(&["*"]).contains(&"webhook.tested"));
}
