/** Prompts that make an agent do something that can be checked afterwards. */
export interface Prompts {
  /** Returns a prompt by which the agent says this text. */
  say(words: string): string
  /** Returns a prompt by which the agent writes a file, after an approval. */
  write(path: string, text: string): string
  /** Returns a prompt by which the agent runs a shell command, after an approval. */
  run(line: string): string
  /** Returns a prompt by which the agent talks for this many seconds. */
  talk(seconds: number): string
  /** Text that appears while the agent talks, and not before. */
  readonly progressText: string
  /**
   * Returns a prompt by which the agent runs a command, talks for this many seconds, and runs another command. Absent
   * for an agent that does only one thing per prompt.
   */
  runTwice?(first: string, seconds: number, second: string): string
  /** Returns a prompt by which the agent calls a tool of an MCP server or of a client. */
  useTool(tool: string, input: object): string
}

/** Prompts for an agent on the scripted model. */
export const scripted: Prompts = {
  say: (words) => `[[think:What shall I say?]][[say:${words}]]`,
  write: (path, text) => `[[say:I write it.]][[write:${path}|${text}]][[say:It is written.]]`,
  run: (line) => `[[say:I run it.]][[run:${line}]]`,
  talk: (seconds) => `[[say:I go on.]][[hang:${seconds}]][[say:That was all.]]`,
  progressText: '...',
  runTwice: (first, seconds, second) =>
    `[[run:${first}]][[say:One is done.]][[hang:${seconds}]][[run:${second}]][[say:Both are done.]]`,
  useTool: (tool, input) => `[[tool:${tool}|${JSON.stringify(input)}]]`,
}

/** Prompts for the guide, an agent that is part of the host and needs no model. */
export const guidePrompts: Prompts = {
  say: (words) => `say ${words}`,
  write: (path, text) => `write ${path} ${text}`,
  run: (line) => `run ${line}`,
  talk: (seconds) => `slow ${seconds}`,
  progressText: ' ',
  useTool: (tool, input) => `call ${tool} ${JSON.stringify(input)}`,
}
