use super::*;
use crate::aggregate::given::given;
use crate::kernel::FileType;

fn owner() -> UserId {
    "usr_0192f0c1a0007000800000000000000a".parse().unwrap()
}

fn clerk() -> UserId {
    "usr_0192f0c1a0007000800000000000000b".parse().unwrap()
}

fn passport() -> Box<Uploaded> {
    Box::new(Uploaded {
        owner: owner(),
        purpose: DocumentPurpose::Identification,
        document_type: "PASSPORT".into(),
        name: None,
        description: None,
        number: None,
        issuing_country: Some("NG".into()),
        issue_date: None,
        expiry_date: None,
        side: Some(DocumentSide::Front),
        file: StoredFile {
            id: "file_0192f0c1a0007000800000000000000c".parse().unwrap(),
            file_type: FileType::Jpg,
            sha256: "ab".repeat(32),
        },
        size: 12,
        extracted: None,
    })
}

fn uploaded() -> DocumentEvent {
    DocumentEvent::Uploaded(passport())
}

fn verify(by: UserId) -> DocumentCommand {
    DocumentCommand::Verify { by, note: None }
}

fn reject(by: UserId) -> DocumentCommand {
    DocumentCommand::Reject { by, reason: "blurred".into() }
}

fn verified() -> DocumentEvent {
    DocumentEvent::Verified { owner: owner(), note: None }
}

fn rejected() -> DocumentEvent {
    DocumentEvent::Rejected { owner: owner(), reason: "blurred".into() }
}

#[test]
fn a_document_is_handed_in_once() {
    given::<Document>(&[]).when(DocumentCommand::Upload(passport())).then(&[uploaded()]);
    given::<Document>(&[uploaded()]).when(DocumentCommand::Upload(passport())).then_refused("INVALID_STATE");
}

#[test]
fn staff_decide_once() {
    given::<Document>(&[uploaded()]).when(verify(clerk())).then(&[verified()]);
    given::<Document>(&[uploaded()]).when(reject(clerk())).then(&[rejected()]);
    for decided in [verified(), rejected()] {
        for command in [verify(clerk()), reject(clerk())] {
            given::<Document>(&[uploaded(), decided.clone()]).when(command).then_refused("INVALID_STATE");
        }
    }
    given::<Document>(&[]).when(verify(clerk())).then_refused("NOT_FOUND");
}

#[test]
fn nobody_decides_about_evidence_of_their_own() {
    given::<Document>(&[uploaded()]).when(verify(owner())).then_refused("OWN_DOCUMENT");
    given::<Document>(&[uploaded()]).when(reject(owner())).then_refused("OWN_DOCUMENT");
}

#[test]
fn a_document_knows_whose_it_is_whatever_became_of_it() {
    for events in [vec![uploaded()], vec![uploaded(), verified()], vec![uploaded(), rejected()]] {
        let mut document = Document::default();
        events.iter().for_each(|event| document.evolve(event));
        assert_eq!(document.owner(), Some(owner()));
    }
}
