import type { Uri } from '@atrium/protocol/channel'

/** What the enabled customizations of a session give to the agent of a turn. */
export interface Customized {
  /** Rules that the agent must know from the start. */
  readonly rules: readonly Rule[]
  /** Skills and rules that the agent reads when a task needs them. */
  readonly skills: readonly Skill[]
  /** The custom agent that the message has chosen. */
  readonly agent?: CustomAgent
  /** Texts that hooks give to the agent. */
  readonly context: readonly string[]
  /** The text that the user's command stands for, if the message begins with a command of a customization. */
  readonly prompt?: string
}

export interface Rule {
  readonly name: string
  readonly uri: Uri
  readonly text: string
  /** Patterns of the files that the rule is about. Absent: it is about everything. */
  readonly globs?: readonly string[]
}

export interface Skill {
  readonly name: string
  readonly description: string
  /** The file of the skill. Other files of the skill are beside it. */
  readonly uri: Uri
  readonly text: string
}

export interface CustomAgent {
  readonly name: string
  /** The instructions of the agent. */
  readonly text: string
  readonly model?: string
  /** The only tools that the agent may use, by name. */
  readonly tools?: readonly string[]
}

/** A file in which the people of a project have written instructions for all agents. */
export interface InstructionFile {
  readonly uri: Uri
  /** The instructions, without characters that nobody sees. Empty if there is a problem. */
  readonly text: string
  /** Whether the file is longer than `text`. */
  readonly isCut: boolean
  /** Why the file is not used, as a clause for users. */
  readonly problem?: string
}

export const notCustomized: Customized = { rules: [], skills: [], context: [] }
