//! The `dsh-audit` program: everything it does is in the library.

fn main() -> std::process::ExitCode {
    dsh_audit::cli::main()
}
