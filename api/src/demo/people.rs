//! Who lives in the demo bank. All of them are made up.

use bursar_domain::kernel::Permission;

/// The password of the six people with a login. Sandbox only.
pub(super) const PASSWORD: &str = "bursar-demo-2026";

/// Somebody with a login.
pub(super) struct Somebody {
    pub(super) first_name: &'static str,
    pub(super) last_name: &'static str,
    pub(super) email: &'static str,
    /// What staff may do; customers have nothing here.
    pub(super) staff: &'static [Permission],
}

/// Customers first, then staff.
pub(super) const PEOPLE: [Somebody; 6] = [
    Somebody { first_name: "Ada", last_name: "Okafor", email: "ada@example.com", staff: &[] },
    Somebody { first_name: "Bola", last_name: "Adeyemi", email: "bola@example.com", staff: &[] },
    Somebody { first_name: "Chidi", last_name: "Eze", email: "chidi@example.com", staff: &[] },
    Somebody {
        first_name: "Tunde",
        last_name: "Teller",
        email: "teller@example.com",
        staff: &[
            Permission::AccountOps,
            Permission::LoanReview,
            Permission::LoanDisburse,
            Permission::KycVerify,
            Permission::CardOps,
            Permission::DeviceOps,
            Permission::PiiErase,
        ],
    },
    Somebody {
        first_name: "Amaka",
        last_name: "Approver",
        email: "approver@example.com",
        staff: &[
            Permission::AccountOps,
            Permission::LoanApprove,
            Permission::DisputeResolve,
            Permission::ProductAdmin,
            Permission::AuditRead,
            Permission::OpsRebuild,
            Permission::PiiErase,
            Permission::StaffAdmin,
            Permission::WebhookAdmin,
        ],
    },
    Somebody {
        first_name: "Umar",
        last_name: "Auditor",
        email: "auditor@example.com",
        staff: &[Permission::AuditRead],
    },
];

impl Somebody {
    pub(super) const fn is_customer(&self) -> bool {
        self.staff.is_empty()
    }
}

/// Names for the customers that only give the bank something to do.
const FIRST: [&str; 20] = [
    "Ngozi", "Emeka", "Aisha", "Yusuf", "Folake", "Segun", "Zainab", "Ibrahim", "Chioma", "Obinna", "Halima",
    "Musa", "Kemi", "Dayo", "Ify", "Uche", "Bisi", "Tayo", "Nneka", "Sani",
];
const LAST: [&str; 20] = [
    "Balogun", "Nwosu", "Bello", "Abubakar", "Ogunleye", "Okonkwo", "Lawal", "Danjuma", "Eze", "Adebayo",
    "Umeh", "Garba", "Oni", "Afolabi", "Ibe", "Chukwu", "Salami", "Ojo", "Mba", "Yakubu",
];

/// First and last name of the `n`th customer.
pub(crate) fn name(n: usize) -> (&'static str, &'static str) {
    (FIRST[n % FIRST.len()], LAST[(n / FIRST.len() + n * 7) % LAST.len()])
}

/// What people pay for: narration, and the least and most it costs in kobo.
pub(super) const SPENDING: [(&str, i64, i64); 10] = [
    ("Groceries", 200_000, 2_500_000),
    ("Transport", 50_000, 600_000),
    ("Lunch", 100_000, 500_000),
    ("Airtime", 50_000, 500_000),
    ("Rent contribution", 2_000_000, 9_000_000),
    ("School fees", 1_500_000, 8_000_000),
    ("Tailor", 300_000, 2_000_000),
    ("Market", 150_000, 3_000_000),
    ("Gift", 100_000, 1_500_000),
    ("Repayment to a friend", 200_000, 4_000_000),
];
