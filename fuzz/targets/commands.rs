#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dsh_audit_fuzz::commands::check_one(bytes));
