//! What a request's header holds: route, system prompt, tools.
//!
//! **Takes** changes. **Gives** [`Head`] and its JSON. **Never** knows when a header is logged.

use super::json::Json;

/// A provider's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Its route takes a changed system prompt as one more message (format-generations.md 3).
    Flash,
    /// Its route has one system prompt, at the head.
    Pro,
}

/// The provider of every model.
pub const PROVIDER: &str = "deepseek-official";

impl Model {
    /// The model's name.
    pub fn name(self) -> &'static str {
        match self {
            Model::Flash => "deepseek-v4-flash",
            Model::Pro => "deepseek-v4-pro",
        }
    }

    /// The model of that name, for the command line.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "flash" => Some(Model::Flash),
            "pro" => Some(Model::Pro),
            _ => None,
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Model::Flash => Model::Pro,
            Model::Pro => Model::Flash,
        }
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// How often its description was edited.
    pub edition: u64,
    description: &'static str,
    parameters: &'static str,
}

impl Tool {
    fn print(&self, json: &mut Json) {
        json.raw("{\"name\":")
            .text(self.name)
            .raw(",\"description\":");
        match self.edition {
            0 => json.text(self.description),
            edition => json.text(&format!("{} (Edition {edition}.)", self.description)),
        };
        json.raw(",\"parameters\":").raw(self.parameters).raw("}");
    }
}

/// The header of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The model.
    pub model: Model,
    /// The user chose the highest reasoning effort.
    pub max_effort: bool,
    /// The system prompt.
    pub system: String,
    /// The tools, in order.
    pub tools: Vec<Tool>,
}

impl Head {
    /// Prints the call config of an identified shape, then its defaults.
    pub fn print_config(&self, json: &mut Json) {
        json.raw("{\"provider\":")
            .text(PROVIDER)
            .raw(",\"model\":")
            .text(self.model.name());
        json.raw(if self.max_effort {
            ",\"reasoningEffort\":\"max\",\"maxTokens\":256000},\"adapterDefaults\":{\"maxTokens\":true}"
        } else {
            ",\"maxTokens\":256000,\"reasoningEffort\":\"high\"},\"adapterDefaults\":{\"reasoningEffort\":true,\"maxTokens\":true}"
        });
    }

    /// Prints the list of tools.
    pub fn print_tools(&self, json: &mut Json) {
        json.raw("[")
            .list(&self.tools, |json, tool| tool.print(json))
            .raw("]");
    }

    /// A rough count of the tools' tokens.
    pub fn tool_tokens(&self) -> u64 {
        self.tools
            .iter()
            .map(|tool| (tool.description.len() + tool.parameters.len()) as u64 / 4 + 8)
            .sum()
    }
}

const fn tool(name: &'static str, description: &'static str, parameters: &'static str) -> Tool {
    Tool {
        name,
        edition: 0,
        description,
        parameters,
    }
}

/// The tools of a session, alphabetical as the harness lists them.
pub static TOOLS: [Tool; 8] = [
    tool(
        "bash",
        "Runs one command in a fresh shell and gives what it printed, followed by `[exit code: N]`. Say what the command is for in \
         `description`. Output beyond 64 KiB keeps its end; the whole goes to a file whose path is given. Commands may be confined: \
         a refused write is reported as a policy denial, do not try another way.",
        "{\"type\":\"object\",\"properties\":{\"description\":{\"type\":\"string\",\"description\":\"What the command does, in five to \
         ten words. Examples: \\\"ls\\\" → \\\"List the folder\\\"\"},\"command\":{\"type\":\"string\"},\"timeout_ms\":{\"type\":\"integer\",\
         \"minimum\":1,\"maximum\":600000}},\"required\":[\"command\"],\"additionalProperties\":false}",
    ),
    tool(
        "edit",
        "Replaces one piece of a text file. `old_text` must occur exactly once; read the file first.",
        "{\"type\":\"object\",\"properties\":{\"file_path\":{\"type\":\"string\"},\"old_text\":{\"type\":\"string\"},\"new_text\":\
         {\"type\":\"string\"}},\"required\":[\"file_path\",\"old_text\",\"new_text\"],\"additionalProperties\":false}",
    ),
    tool(
        "glob",
        "Lists files whose path fits a pattern, newest first, at most 500.",
        "{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":\"string\",\"description\":\"e.g. `src/**/*.rs`\"},\"path\":\
         {\"type\":\"string\"}},\"required\":[\"pattern\"]}",
    ),
    tool(
        "grep",
        "Searches file contents with a regular expression and gives `path:line:text`.",
        "{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":\"string\"},\"path\":{\"type\":\"string\"},\"context\":{\"type\":\
         \"integer\",\"default\":0}},\"required\":[\"pattern\"]}",
    ),
    tool(
        "read",
        "Reads a text file with line numbers; `offset` and `limit` continue a long one.",
        "{\"type\":\"object\",\"properties\":{\"file_path\":{\"type\":\"string\"},\"offset\":{\"type\":\"integer\"},\"limit\":{\"type\":\
         \"integer\"}},\"required\":[\"file_path\"]}",
    ),
    tool(
        "task",
        "Starts another agent on a piece of work and gives its report.",
        "{\"type\":\"object\",\"properties\":{\"prompt\":{\"type\":\"string\"},\"mode\":{\"enum\":[\"one-shot\",\"continuable\"]}},\
         \"required\":[\"prompt\"]}",
    ),
    tool(
        "todo",
        "Writes the list of what is to be done. Statuses: pending, in_progress, completed.",
        "{\"type\":\"object\",\"properties\":{\"todos\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"content\":\
         {\"type\":\"string\"},\"status\":{\"enum\":[\"pending\",\"in_progress\",\"completed\"]}}}}},\"required\":[\"todos\"]}",
    ),
    tool(
        "write",
        "Creates a text file or overwrites it; read an existing file before.",
        "{\"type\":\"object\",\"properties\":{\"file_path\":{\"type\":\"string\"},\"content\":{\"type\":\"string\"}},\"required\":\
         [\"file_path\",\"content\"]}",
    ),
];

/// Tools that come and go during a session.
pub static EXTRA_TOOLS: [Tool; 3] = [
    tool(
        "browse",
        "Opens a page in the user's browser and gives its text.",
        "{\"type\":\"object\",\"properties\":{\"url\":{\"type\":\"string\",\"format\":\"uri\"}},\"required\":[\"url\"]}",
    ),
    tool(
        "tickets",
        "Looks up a ticket by its number.",
        "{\"type\":\"object\",\"properties\":{\"number\":{\"type\":\"integer\",\"exclusiveMinimum\":0}},\"required\":[\"number\"]}",
    ),
    tool(
        "translate",
        "Translates a text: ja → 日本語, de → Deutsch.",
        "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}",
    ),
];
