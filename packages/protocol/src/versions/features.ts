import { isBefore, negotiate } from './negotiate.ts'
import type { Version } from './negotiate.ts'

/** What each version added that a user sees. */
const added: readonly (readonly [Version, string])[] = [
  ['0.2.0', 'changesets, watched files, what a plugin contains'],
  ['0.3.0', 'MCP servers'],
  ['0.4.0', 'chats besides the first of a session, annotations'],
  ['0.5.0', 'several active clients, drafts, progress'],
  ['0.5.1', 'the list of requests that wait for an answer, pages of a long history'],
  ['0.5.2', 'answered forms in the history, results of terminals'],
  ['0.6.0', 'times of turns, tools that ask for a login, risks of tool calls'],
  ['0.7.0', 'several working directories'],
  ['0.8.0', 'customizations that are on in one workspace only'],
  ['0.9.0', 'automations, resumed turns'],
  ['1.0.0', 'the order of chats, read and archived chats, background work, canvases'],
]

/** Returns what a client of a version cannot see, oldest first. */
export function unseenIn(offered: string): readonly string[] {
  const { version } = negotiate([offered])
  return added.filter(([since]) => isBefore(version, since)).map(([, feature]) => feature)
}
