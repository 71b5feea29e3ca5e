-- What is sealed in the log is in the clear here, and not for everybody who reads these tables: the comment says so, and
-- whoever grants reads the comment.
DO $$
DECLARE
    marked text;
    place  regclass;
    name   text;
    number smallint;
BEGIN
    FOREACH marked IN ARRAY ARRAY[
        'accounts.account_name',
        'beneficiaries.number', 'beneficiaries.name', 'beneficiaries.nickname',
        'cards.holder_name',
        'closures.comments',
        'compliance_records.details', 'compliance_records.rejection_reason',
        'disputes.contact_phone', 'disputes.contact_email',
        'documents.name', 'documents.description', 'documents.number', 'documents.extracted_number',
        'documents.extracted_name', 'documents.extracted_birth', 'documents.extracted_expiry',
        'loans.employer_name', 'loans.guarantors', 'loans.collaterals', 'loans.documents',
        'mandates.beneficiary_account', 'mandates.beneficiary_name',
        'messages.body',
        'tagged_transactions.notes',
        'tags.name', 'tags.description',
        'transactions.destination_name', 'transactions.outside_number',
        'users.first_name', 'users.last_name', 'users.email', 'users.phone_number', 'users.date_of_birth',
        'users.street', 'users.city', 'users.state', 'users.postal_code', 'users.country',
        'users.waiting_first_name', 'users.waiting_last_name', 'users.waiting_email', 'users.waiting_phone_number']
    LOOP
        place := split_part(marked, '.', 1)::regclass;
        name := split_part(marked, '.', 2);
        SELECT attnum INTO STRICT number FROM pg_attribute WHERE attrelid = place AND attname = name;
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', place, name,
                       col_description(place, number) || ' Personal: not for analysts.');
    END LOOP;
END $$;
