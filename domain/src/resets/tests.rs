use jiff::Timestamp;

use super::*;
use crate::aggregate::given::given;

fn request(text: &str, known: bool) -> Requested {
    let at: Timestamp = text.parse().unwrap();
    let user = known.then(|| "usr_0192f0c1a0007000800000000000000a".parse().unwrap());
    Requested { user, at, expires_at: crate::kernel::add_seconds(at, 1800) }
}

fn asked(text: &str, known: bool) -> ResetsEvent {
    ResetsEvent::Requested(request(text, known))
}

fn ask(text: &str, known: bool) -> ResetsCommand {
    ResetsCommand::Request { request: request(text, known), a_day: 2 }
}

#[test]
fn a_name_that_nobody_has_is_treated_like_any_other() {
    let (morning, noon, evening) = ("2026-03-01T08:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T20:00:00Z");
    for known in [true, false] {
        given::<Resets>(&[]).when(ask(morning, known)).then(&[asked(morning, known)]);
        let log = [asked(morning, known), asked(noon, known)];
        given::<Resets>(&log).when(ask(evening, known)).then_refused("TOO_MANY_RESETS");
        let tomorrow = "2026-03-02T00:00:00Z";
        given::<Resets>(&log).when(ask(tomorrow, known)).then(&[asked(tomorrow, known)]);
    }
}
