/** What is said to an agent so that it does something that can be looked at afterwards. */
export interface Speech {
  /** It says these words. */
  say(words: string): string
  /** It writes a file, after it was allowed to. */
  write(path: string, text: string): string
  /** It runs a line of the shell, after it was allowed to. */
  run(line: string): string
  /** It talks for so many seconds. */
  talk(seconds: number): string
  /** What is heard of it while it talks, and not before. */
  readonly mumble: string
  /** It runs a line, talks for so many seconds, and runs another. Absent: it does one thing at a time. */
  both?(first: string, seconds: number, second: string): string
  /** It calls a tool of an MCP server that it was given. Absent: it is given none. */
  use?(tool: string, input: object): string
}

/** For an agent of the host whose model is ours. */
export const scripted: Speech = {
  say: (words) => `[[think:What shall I say?]][[say:${words}]]`,
  write: (path, text) => `[[say:I write it.]][[write:${path}|${text}]][[say:It is written.]]`,
  run: (line) => `[[say:I run it.]][[run:${line}]]`,
  talk: (seconds) => `[[say:I go on.]][[hang:${seconds}]][[say:That was all.]]`,
  mumble: '...',
  both: (first, seconds, second) =>
    `[[run:${first}]][[say:One is done.]][[hang:${seconds}]][[run:${second}]][[say:Both are done.]]`,
}

/** For one that is a program, and is given MCP servers. */
export const given: Speech = {
  ...scripted,
  use: (tool, input) => `[[tool:${tool}|${JSON.stringify(input)}]]`,
}

/** For the agent that every host has. */
export const guided: Speech = {
  say: (words) => `say ${words}`,
  write: (path, text) => `write ${path} ${text}`,
  run: (line) => `run ${line}`,
  talk: (seconds) => `slow ${seconds}`,
  mumble: ' ',
}
