import { FakeFiles } from './fake-files.ts'
import { ScriptedAgent } from './scripted-agent.ts'
import type { Client, Machine } from './test-host.ts'
import { chat, session, oneClientSession } from './one-client-session.ts'
import type { Vcs } from '../src/ports/vcs.ts'
import type { LimitValues } from '@atrium/protocol/limits'

export const complete = (client: Client, text: string, more: object = {}) =>
  client.ask('completions', { channel: chat, kind: 'userMessage', text, offset: text.length, ...more })
export const texts = async (client: Client, text: string) =>
  (await complete(client, text)).items.map(({ insertText }) => insertText)
export const code = (asked: Promise<unknown>) =>
  asked.then(
    () => 0,
    (error: { code: number }) => error.code,
  )

/** Creates a session whose agent works in these directories, on a machine with these files. */
export async function setUp(
  paths: readonly string[],
  {
    vcs,
    limits = {},
    directories = ['/w'],
  }: { vcs?: Partial<Vcs>; limits?: Partial<LimitValues>; directories?: readonly string[] } = {},
) {
  const files = new FakeFiles()
  for (const path of paths) files.put(path, '')
  const agent = new ScriptedAgent({ capabilities: { multipleWorkingDirectories: {} } })
  const machine: Machine = { files, ...(vcs && { vcs: { ...noVcs, ...vcs } }) }
  const { all, ann } = await oneClientSession(agent, { machine, limits })
  for (const path of directories)
    await ann.echo(
      ann.dispatch(session, { type: 'session/workingDirectorySet', directory: `file://${path}` }),
    )
  return { all, ann, files, agent }
}

export const noVcs: Vcs = {
  gitDirectories: async () => [],
  root: async () => undefined,
  status: async () => ({ remotes: [], changes: [] }),
  ignored: async () => new Set(),
  files: async () => [],
}
