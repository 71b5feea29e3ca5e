//! The operator console, in a real browser: what staff do there, and what must not happen there.

use std::time::Duration;

use bursar_domain::kernel::Permission;
use jiff::SignedDuration;
use serde_json::json;

use crate::proof::seal;
use crate::ratchet::lending;
use crate::support::browser::Browser;
use crate::support::client::{PASSWORD, transfer};
use crate::support::{Bank, Person};

/// A browser in which this member of staff has logged in.
async fn staff(bank: &Bank, email: &str) -> Browser {
    let mut browser = Browser::open().await;
    browser.go(&format!("http://{}/console", bank.address)).await;
    logs_in(&mut browser, email).await;
    browser.until("document.querySelector('.menu')").await;
    browser
}

async fn logs_in(browser: &mut Browser, email: &str) {
    browser.write("#username", email).await;
    browser.write("#password", PASSWORD).await;
    browser.keys(&["Enter"]).await;
}

/// Follows an address within the console.
async fn at(browser: &mut Browser, place: &str) {
    browser.eval(&format!("location.hash = {}", json!(place))).await;
}

/// Ada pays Bola; the id of the payment.
async fn pays(ada: &Person, to: &str, amount: i64, narration: &str) -> String {
    let mut body = transfer(&ada.current, to, amount);
    body["narration"] = json!(narration);
    body["reference"] = json!("INV-4711");
    let paid = ada.client.post("/v1/payments/transfer/internal", &body).await.is(201);
    paid.text_at("transactionId").to_owned()
}

/// The page as it is in the dark, and on a phone.
async fn pictured(browser: &mut Browser, name: &str) {
    browser.picture(&format!("{name}-light")).await;
    browser.prefers("dark").await;
    browser.picture(&format!("{name}-dark")).await;
    browser.prefers("light").await;
    browser.sized(390, 844).await;
    browser.picture(&format!("{name}-phone")).await;
    browser.sized(1280, 800).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_their_account_and_a_payment_are_found_and_read() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    bank.later(9 * 24 * 60 * 60).await;
    let ada = Person { client: bank.ada().await.client, ..ada };
    let id = pays(&ada, &bola.current, 123_456, "Lunch, and the rest").await;
    seal(&bank, bursar_commands::proof::Outside::default()).await;
    bank.caught_up().await;
    let balance = ada.client.balance(&ada.current).await;

    let mut browser = Browser::open().await;
    browser.go(&format!("http://{}/console", bank.address)).await;
    pictured(&mut browser, "login").await;
    logs_in(&mut browser, "approver@example.com").await;
    browser.write("#q", "Ada").await;
    browser.keys(&["Enter"]).await;
    browser.sees("Ada Okafor").await;
    pictured(&mut browser, "search").await;
    browser.press("Ada Okafor").await;
    browser.sees("ada@example.com").await;
    browser.sees(&ada.savings).await;
    // Cards are for others; the rest of the page is there all the same.
    browser.sees("CARD_OPS").await;
    pictured(&mut browser, "customer").await;
    browser.press(&ada.current).await;
    browser.sees("Lunch, and the rest").await;
    browser.sees("1,234.56").await;
    let shown = format!("{}.{:02} NGN", grouped(balance / 100), balance % 100);
    browser.sees(&shown).await;
    browser.until("document.querySelector('svg.chart path.line').getAttribute('d').length > 40").await;
    browser.eval("document.querySelector('svg.chart').focus()").await;
    browser.keys(&["ArrowLeft"]).await;
    browser.until("document.querySelector('.chart-note').innerText.includes('NGN')").await;
    pictured(&mut browser, "account").await;
    browser.sized(390, 844).await;
    browser.until("document.querySelector('svg.chart').viewBox.baseVal.width < 390").await;
    browser.picture("account-phone").await;
    browser.sized(1280, 800).await;

    // By its reference, as somebody at the desk reads it out.
    browser.eval("document.querySelector('#q').value = ''").await;
    browser.write("#q", "INV-4711").await;
    browser.keys(&["Enter"]).await;
    browser.until("document.querySelector('a[href^=\"#/transactions/\"]')").await;
    browser.click("a[href^='#/transactions/']").await;
    browser.sees(&id).await;
    browser.sees("payment.completed").await;
    browser.sees("sealed").await;
    // Whose the payment is, as the event says it, and the sum.
    browser.sees("123456").await;
    pictured(&mut browser, "transaction").await;
    at(&mut browser, &format!("#/timeline/{}", bank.user("ada@example.com").await)).await;
    browser.sees("user.registered").await;
    assert!(!browser.text().await.contains("Okafor"));
    pictured(&mut browser, "timeline").await;
    at(&mut browser, "#/log").await;
    browser.sees("Last checkpoint").await;
    pictured(&mut browser, "log").await;
    browser.close().await;
    bank.close().await;
}

fn grouped(number: i64) -> String {
    let text = number.to_string();
    let parts: Vec<&str> =
        text.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loan_is_reviewed_and_approved_from_the_inbox_by_two() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let loan = lending::applies(&ada).await;
    crate::ratchet::closing::asks(&ada, &ada.savings, &ada.current).await;
    bank.caught_up().await;

    let mut teller = staff(&bank, "teller@example.com").await;
    teller.sees("Salary Advance").await;
    // Everything about it, before deciding.
    teller.click("a[href^='#/loans/']").await;
    teller.sees("A roof").await;
    teller.sees("100,000.00 NGN").await;
    pictured(&mut teller, "loan").await;
    teller.keys(&["g", "a"]).await;
    teller.press("Start review").await;
    teller.until("document.querySelector('dialog')").await;
    teller.press("Start review").await;
    teller.sees("Application under review").await;
    bank.caught_up().await;

    let mut approver = staff(&bank, "approver@example.com").await;
    approver.sees("100,000.00 NGN").await;
    pictured(&mut approver, "approvals").await;
    // Whoever decides sees it too, and goes back to the list.
    approver.click("a[href^='#/loans/']").await;
    approver.sees("A roof").await;
    approver.keys(&["g", "a"]).await;
    approver.press("Approve").await;
    approver.until("document.querySelector('dialog')").await;
    approver.write("#words", "Looks sound").await;
    approver.picture("approve-light").await;
    approver.press("Approve").await;
    approver.sees("Loan approved").await;
    // It is in the log under their own name.
    let sql =
        "SELECT metadata->>'actor' FROM events WHERE event_type = 'loan.approved' AND aggregate_id = $1";
    let actor: String = sqlx::query_scalar(sql).bind(&loan).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(actor, bank.user("approver@example.com").await.to_string());

    // Who says no must say why; and whoever took the step before is told that it is another one's turn.
    approver.press("Reject").await;
    approver.until("document.querySelector('dialog textarea').required").await;
    approver.press("Cancel").await;
    approver.until("!document.querySelector('dialog')").await;
    bank.caught_up().await;
    approver.press("Approve").await;
    approver.press("Approve").await;
    approver.sees("another member of staff decides").await;
    teller.close().await;
    approver.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_is_enough() {
    let bank = Bank::open().await;
    let mut browser = staff(&bank, "approver@example.com").await;
    browser.sees("Approvals").await;
    browser.keys(&["/"]).await;
    browser.until("document.activeElement.id === 'q'").await;
    browser.call("Input.insertText", json!({"text": "okafor"})).await;
    browser.keys(&["Enter"]).await;
    browser.sees("Ada Okafor").await;
    browser.keys(&["j"]).await;
    browser.until("document.activeElement.innerText === 'Ada Okafor'").await;
    browser.keys(&["Enter"]).await;
    browser.sees("Savings").await;
    browser.keys(&["j", "j", "k"]).await;
    browser.until("document.activeElement.matches('a[href^=\"#/accounts/\"]')").await;
    browser.keys(&["Enter"]).await;
    browser.sees("Statement").await;
    for (key, words) in [
        ("l", "Last checkpoint"),
        ("s", "The bank's clock"),
        ("p", "Most behind"),
        ("h", "Requests a second"),
        ("a", "waiting"),
    ] {
        browser.until("document.activeElement.id !== 'q'").await;
        browser.keys(&["g", key]).await;
        browser.sees(words).await;
        browser.until("!document.querySelector('main [role=status]')?.innerText.includes('Loading')").await;
    }
    browser.keys(&["?"]).await;
    browser.until("document.querySelector('dialog[open]')").await;
    browser.picture("keys-light").await;
    browser.keys(&["Enter"]).await;
    browser.until("!document.querySelector('dialog')").await;
    // Everything that can be pressed says what it is, and shows when it has the focus.
    let unnamed = "[...document.querySelectorAll('button, a, input, select')].filter((one) => !(one.innerText || one.getAttribute('aria-label') || one.closest('label'))).length";
    assert_eq!(browser.eval(unnamed).await, 0);
    browser.keys(&["Tab"]).await;
    browser.until("getComputedStyle(document.activeElement).outlineStyle === 'solid'").await;
    browser.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_runs_the_bank_sees_what_is_due_how_far_it_is_and_how_it_does() {
    let bank = Bank::configured(crate::support::quiet()).await;
    let ada = bank.ada().await;
    let body = json!({
        "sourceAccount": ada.current, "destinationAccount": "0123456789", "bankCode": "000013", "amount": 5_000,
        "currency": "NGN",
    });
    ada.client.post("/v1/payments/transfer/external", &body).await.is(201);
    bank.caught_up().await;
    let mut browser = staff(&bank, "approver@example.com").await;
    at(&mut browser, "#/schedule").await;
    browser.sees("payment.clear").await;
    pictured(&mut browser, "schedule").await;
    at(&mut browser, "#/health").await;
    browser.sees("Requests a second").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    browser.until("document.querySelectorAll('.spark path.line').length >= 8").await;
    pictured(&mut browser, "health").await;
    at(&mut browser, "#/projections").await;
    browser.sees("statement_entries").await;
    browser.sees("following").await;
    // A row that was edited by hand is found and repaired, and the bar is at its end.
    let edit = "UPDATE products SET minimum_balance = minimum_balance + 1 WHERE product_id = 'SAV-001'";
    sqlx::query(edit).execute(&bank.pool).await.unwrap();
    let bar = "document.querySelector('[role=progressbar][aria-label=\"Check of products\"]')?.getAttribute('aria-valuenow') === '100'";
    browser.click("[aria-label='Verify products']").await;
    browser.sees("1 different").await;
    browser.until(bar).await;
    browser.press("Which rows").await;
    browser.sees("minimum_balance").await;
    browser.click("[aria-label='Rebuild products']").await;
    browser.sees("The tables were replaced").await;
    pictured(&mut browser, "projections").await;
    browser.click("[aria-label='Verify products']").await;
    browser.sees("The tables are what the log says").await;
    browser.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_customers_call_themselves_stays_text() {
    let bank = Bank::open().await;
    let evil = "<img src=x onerror=window.hacked=1>";
    let body = json!({
        "firstName": evil, "lastName": "\"><script>window.hacked=1</script>", "email": "evil@example.com", "phoneNumber": "+2348031234567",
        "dateOfBirth": "1990-01-01", "countryCode": "NG",
    });
    let teller = bank.teller().await;
    let made = teller.client.post("/v1/staff/customers", &body).await;
    // What the interface does not take as a name is tried where it takes anything.
    let who = if made.status == 201 { Some(made.text_at("userId").to_owned()) } else { None };
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let id = pays(&ada, &bola.current, 100, &format!("{evil}<script>window.hacked=1</script>")).await;
    bank.caught_up().await;
    let mut browser = staff(&bank, "approver@example.com").await;
    if let Some(who) = who {
        at(&mut browser, &format!("#/customers/{who}")).await;
        browser.sees(evil).await;
    }
    for place in [format!("#/transactions/{id}"), format!("#/accounts/{}", ada.current)] {
        at(&mut browser, &place).await;
        browser.sees(evil).await;
    }
    at(&mut browser, &format!("#/search?q={}", "%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E")).await;
    browser.sees(evil).await;
    assert_eq!(browser.eval("window.hacked === undefined && document.images.length === 0").await, true);
    // The control: the policy of the page would not have let it run either.
    let run = "new Promise((done) => { document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective), { once: true }); \
        const script = document.createElement('script'); script.textContent = 'window.hacked = 2'; document.body.append(script); })";
    assert_eq!(browser.eval(run).await, "script-src-elem");
    assert_eq!(browser.eval("window.hacked === undefined").await, true);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_and_staff_without_the_permission_are_told_so_clearly() {
    let bank = Bank::open().await;
    let mut browser = Browser::open().await;
    browser.go(&format!("http://{}/console", bank.address)).await;
    logs_in(&mut browser, "ada@example.com").await;
    browser.sees("This console is for staff").await;
    assert_eq!(browser.eval("sessionStorage.length").await, 0);
    browser.close().await;

    let mut browser = staff(&bank, "auditor@example.com").await;
    browser.sees("Nothing to decide").await;
    let ada = bank.ada().await;
    for (place, needs) in [
        ("#/search?q=ada".to_owned(), Permission::AccountOps),
        (format!("#/accounts/{}", ada.current), Permission::AccountOps),
        ("#/schedule".to_owned(), Permission::OpsRebuild),
    ] {
        at(&mut browser, &place).await;
        browser.sees(&format!("You need the permission {needs}")).await;
    }
    browser.picture("refused-light").await;
    at(&mut browser, "#/projections").await;
    browser.sees("OPS_REBUILD").await;
    browser.until("[...document.querySelectorAll('td button')].every((one) => one.disabled)").await;
    at(&mut browser, "#/log").await;
    browser.sees("Last checkpoint").await;
    browser.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_refreshed_while_it_can_be_and_then_the_login_comes_back() {
    let bank = Bank::open().await;
    let mut browser = staff(&bank, "approver@example.com").await;
    browser.sees("waiting").await;
    // A quarter of an hour by the bank's clock: the access token is over, the session is not.
    bank.advance(SignedDuration::from_mins(20));
    at(&mut browser, "#/log").await;
    browser.sees("Last checkpoint").await;
    let before = bank.events_of("session.refreshed").await;
    assert!(before >= 1, "{before}");
    bank.advance(SignedDuration::from_hours(48));
    at(&mut browser, "#/schedule").await;
    browser.sees("The session has ended").await;
    assert_eq!(browser.eval("sessionStorage.length").await, 0);
    browser.picture("ended-light").await;
    logs_in(&mut browser, "approver@example.com").await;
    // Where they were going.
    browser.sees("The bank's clock").await;
    browser.click("#logout").await;
    browser.until("document.querySelector('#username')").await;
    assert_eq!(browser.eval("sessionStorage.length").await, 0);
    assert_eq!(browser.eval("document.cookie").await, "");
    browser.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn light_and_dark_can_be_read_and_a_phone_needs_no_sideways_scrolling() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let mut browser = staff(&bank, "approver@example.com").await;
    let ratio = "(() => { const part = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number).map((v) => v / 255).map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); \
        const light = (text) => { const [r, g, b] = part(text); return .2126 * r + .7152 * g + .0722 * b; }; \
        const ground = (one) => { for (; one; one = one.parentElement) { const of = getComputedStyle(one).backgroundColor; if (!/, 0\\)|transparent/.test(of)) return of; } return 'rgb(255,255,255)'; }; \
        return [...document.querySelectorAll('main *, .top *, .menu *')].filter((one) => [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && one.checkVisibility() && !one.closest('svg, .unseen') && !one.disabled) \
        .map((one) => { const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x); return [(a + .05) / (b + .05), one.className, one.textContent.slice(0, 30)]; }).filter(([n]) => n < 4.5); })()";
    for scheme in ["light", "dark"] {
        browser.prefers(scheme).await;
        for place in [
            "#/approvals".to_owned(),
            "#/projections".to_owned(),
            format!("#/accounts/{}", ada.current),
            "#/log".to_owned(),
        ] {
            at(&mut browser, &place).await;
            browser.until("document.querySelector('main h1') && !document.querySelector('main')?.innerText.startsWith('Loading')").await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            assert_eq!(browser.eval(ratio).await, json!([]), "{scheme} {place}");
        }
    }
    let grounds = "getComputedStyle(document.documentElement).backgroundColor";
    let dark = browser.eval(grounds).await;
    // Somebody's own choice counts more than the system's.
    browser.press("Theme: auto").await;
    browser.until("document.documentElement.dataset.theme === 'light'").await;
    assert_ne!(browser.eval(grounds).await, dark);
    browser.sized(390, 844).await;
    for place in [
        "#/approvals".to_owned(),
        "#/search?q=a".to_owned(),
        format!("#/accounts/{}", ada.current),
        "#/log".to_owned(),
        "#/health".to_owned(),
        "#/projections".to_owned(),
    ] {
        at(&mut browser, &place).await;
        browser.until("document.querySelector('main h1')").await;
        browser.until("document.documentElement.scrollWidth <= window.innerWidth").await;
    }
    browser.close().await;
    bank.close().await;
}

#[tokio::test]
async fn the_files_are_the_servers_own_and_a_browser_keeps_them() {
    let bank = Bank::open().await;
    let page = bank.client().get("/console").await.is(200);
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe")
    );
    assert_eq!((page.header("x-content-type-options"), page.header("set-cookie")), ("nosniff", ""));
    let tag = page.header("etag").to_owned();
    let again =
        bank.client().request(reqwest::Method::GET, "/console").header("If-None-Match", &tag).send().await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    for missing in ["/console/nothing.js", "/console/mod.rs", "/console/..%2Fmod.rs", "/console/index.html"] {
        bank.client().get(missing).await.problem(404, "NOT_FOUND");
    }
    bank.close().await;
}
