//! A bar on standard error while long work goes on.
//!
//! **Takes** the number of bytes to read. **Gives** a bar once half a second has passed, if a person may be looking.
//! **Never** shows itself otherwise, and leaves nothing behind.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// The bar; gone when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    timer: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Whether a bar may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A person at a terminal.
    Terminal,
    /// Nobody, or a program.
    None,
}

impl Progress {
    /// Begins to count.
    pub(crate) fn begin(bytes: u64, audience: Audience) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        let timer = (audience == Audience::Terminal).then(|| show_later(bar.clone()));
        Progress { bar, timer }
    }

    /// Counts bytes that are done.
    pub(crate) fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }
}

fn show_later(bar: ProgressBar) -> (Sender<()>, JoinHandle<()>) {
    let (done, is_done) = mpsc::channel();
    let timer = thread::spawn(move || {
        if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let template = "{spinner} {bar:30} {bytes}/{total_bytes} {elapsed}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    });
    (done, timer)
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, timer)) = self.timer.take() {
            let _ = done.send(());
            let _ = timer.join();
        }
        self.bar.finish_and_clear();
    }
}
