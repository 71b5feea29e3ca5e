//! Loans, mandates and cards: checked, and taken over, one file after another in the same way.

use std::collections::{HashMap, HashSet};

use bursar_commands::imports::{Importer, Thing};
use bursar_commands::{cards, loan_products};
use bursar_domain::Kind;

use super::known::{ASKED, Answer, Asked, ask, changed};
use super::problems::{Problem, Problems};
use super::table::{Layout, Table};
use super::things::{FILES, LOANS, Read};
use super::{Checked, Import, ImportError};

/// Looks at every row of these files.
///
/// # Errors
/// When files or bank cannot be read.
pub async fn check(import: &Import<'_>, checked: &mut Checked) -> Result<(), ImportError> {
    for (layout, kind, reader) in FILES {
        let mut problems = std::mem::take(&mut checked.problems);
        let table = Table::open(&import.dir, layout, &mut problems)?;
        checked.problems = problems;
        let Some(mut table) = table else { continue };
        let mut seen = Seen::default();
        let mut batch = Vec::new();
        loop {
            let mut problems = std::mem::take(&mut checked.problems);
            let row = table.next(&mut problems);
            let Some(mut row) = row? else {
                checked.problems = problems;
                break;
            };
            checked.counts.entry(layout.file).or_default().rows += 1;
            if std::ptr::eq(layout, &LOANS) {
                learn_terms(import, checked, row.text("product")).await?;
            }
            if let Some(read) = reader(import, checked, &mut row, &mut problems) {
                if let Some((column, first)) = seen.had(&read, row.line) {
                    row.wrong(&mut problems, column, "DUPLICATE", format!("line {first} has this too"));
                }
                batch.push((read, row.line));
            }
            let record = row.into_record();
            table.done(record);
            checked.problems = problems;
            if batch.len() >= ASKED {
                ask_all(import, checked, layout, kind, std::mem::take(&mut batch)).await?;
            }
        }
        ask_all(import, checked, layout, kind, batch).await?;
    }
    Ok(())
}

/// What a file has had: ids, and cards of somebody's.
#[derive(Default)]
struct Seen {
    ids: HashMap<String, u64>,
    tokens: HashMap<[u8; 32], u64>,
}

impl Seen {
    /// The column in which the row repeats an earlier one, and its line.
    fn had(&mut self, read: &Read, line: u64) -> Option<(&'static str, u64)> {
        let id = self.ids.insert(read.source_id.clone(), line).map(|first| ("id", first));
        let token = match &read.thing {
            Thing::Card { token, .. } => self.tokens.insert(*token, line).map(|first| ("number", first)),
            Thing::Loan { .. } | Thing::Mandate { .. } => None,
        };
        id.or(token)
    }
}

async fn learn_terms(import: &Import<'_>, checked: &mut Checked, product: &str) -> Result<(), ImportError> {
    if !product.is_empty() && !checked.loan_terms.contains_key(product) {
        let terms = loan_products::terms_of(import.journal, product).await?;
        checked.loan_terms.insert(product.to_owned(), terms);
    }
    Ok(())
}

/// Which of these the log has.
async fn ask_all(
    import: &Import<'_>,
    checked: &mut Checked,
    layout: &'static Layout,
    kind: Kind,
    batch: Vec<(Read, u64)>,
) -> Result<(), ImportError> {
    let tokens: Vec<[u8; 32]> = batch.iter().filter_map(|(read, _)| token(&read.thing)).collect();
    let linked: HashSet<[u8; 32]> =
        if tokens.is_empty() { HashSet::new() } else { cards::known_tokens(import.journal, &tokens).await? };
    let asked: Vec<Asked> = batch
        .iter()
        .map(|(read, line)| Asked {
            id: read.id.clone(),
            print: read.print.clone(),
            line: *line,
            account: String::new(),
        })
        .collect();
    let answers = ask(import, kind, &asked).await?;
    for (answer, (read, line)) in answers.into_iter().zip(batch) {
        match answer {
            Answer::Known => {
                checked.counts.entry(layout.file).or_default().known += 1;
                checked.known.insert((layout.file, read.source_id));
            }
            Answer::Changed => changed(&mut checked.problems, layout, line),
            Answer::New if token(&read.thing).is_some_and(|token| linked.contains(&token)) => {
                let (file, column, code) = (layout.file, "number", "CARD_LINKED");
                let message = "its holder has linked this card".to_owned();
                checked.problems.add(Problem {
                    file,
                    line,
                    column,
                    code,
                    message,
                    expected: None,
                    given: None,
                });
            }
            Answer::New => {}
        }
    }
    Ok(())
}

const fn token(thing: &Thing) -> Option<[u8; 32]> {
    match thing {
        Thing::Card { token, .. } => Some(*token),
        Thing::Loan { .. } | Thing::Mandate { .. } => None,
    }
}

/// Takes over what the log does not have yet.
///
/// # Errors
/// When files or bank cannot be read, or a file is not what it was when it was checked.
pub async fn post(
    import: &Import<'_>,
    checked: &Checked,
    importer: &mut Importer<'_>,
) -> Result<(), ImportError> {
    for (layout, _, reader) in FILES {
        let mut problems = Problems::default();
        let Some(mut table) = Table::open(&import.dir, layout, &mut problems)? else { continue };
        while let Some(mut row) = table.next(&mut problems)? {
            let read = reader(import, checked, &mut row, &mut problems);
            let read = read.ok_or(ImportError::Changed(layout.file))?;
            if !checked.known.contains(&(layout.file, read.source_id)) {
                importer.thing(read.thing).await?;
            }
            let record = row.into_record();
            table.done(record);
        }
    }
    Ok(())
}
