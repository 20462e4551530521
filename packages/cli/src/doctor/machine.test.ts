import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileUri } from '@atrium/protocol/file-uri'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '../../../host/test/test-host.ts'
import { HostProcess } from '../../test/host-process.ts'

const session = 'ahp-session:/machine'
const chat = defaultChatUri(session)
const terminal = 'ahp-terminal:/1'

let home = ''
let work = ''
let host: HostProcess
let ann: Client
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-machine-')))
  work = join(home, 'work')
  mkdirSync(work)
  writeFileSync(join(work, 'a.txt'), 'hello\n')
  writeFileSync(join(home, 'private.txt'), 'canary')
  symlinkSync('../private.txt', join(work, 'out'))
  host = await HostProcess.start(home)
  ann = new Client(await host.dial())
  await ann.initialize('ann', [rootUri])
  await ann.ask('createSession', { channel: session, workingDirectories: [fileUri(work)] })
})
afterEach(async () => {
  await host.kill()
  rmSync(home, { recursive: true, force: true })
})

const at = (name: string) => fileUri(join(work, name))
const alive = (pid: number) => existsSync(`/proc/${pid}`)

/** The output of a terminal. The state of a channel has no type in this test client. */
const shown = (client: Client, channel = terminal) =>
  (client.state(channel) as unknown as TerminalState).content
    .map((part) => (part.type === 'unclassified' ? part.value : part.output))
    .join('')

async function shell(client: Client, channel = terminal): Promise<(line: string) => void> {
  await client.ask('createTerminal', { channel, claim: { kind: 'client', clientId: client.clientId } })
  await client.ask('subscribe', { channel })
  return (line) => void client.dispatch(channel, { type: 'terminal/input', data: `${line}\r` })
}

test('[Q1] [Q2] the command serves the files of a session and its home for browsing, and never its own data', async () => {
  const { defaultDirectory } = await new Client(await host.dial()).initialize('ben')
  expect(defaultDirectory).toBe(fileUri(home))
  expect(await ann.ask('resourceRead', { uri: at('a.txt') })).toMatchObject({ data: 'hello\n' })
  const { etag = '' } = await ann.ask('resourceResolve', { uri: at('a.txt') })
  const write = (data: string) =>
    ann.ask('resourceWrite', { uri: at('a.txt'), data, encoding: 'utf-8', ifMatch: etag })
  const writes = await Promise.allSettled([write('one'), write('two'), write('three')])
  expect(writes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(['one', 'two', 'three']).toContain(readFileSync(join(work, 'a.txt'), 'utf8'))
  expect((await ann.ask('resourceList', { uri: fileUri(home) })).entries).toContainEqual({
    name: 'work',
    type: 'directory',
  })
  for (const uri of [at('out'), fileUri(join(home, 'private.txt'))]) {
    const refused = await ann.ask('resourceRead', { uri }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: -32009, data: { request: { uri, read: true } } })
    expect(JSON.stringify(refused)).not.toContain('canary')
  }
  const grants = [{ uri: fileUri(home), write: true }]
  await ann.echo(ann.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.grants': grants } }))
  expect(await ann.ask('resourceRead', { uri: at('out') })).toMatchObject({ data: 'canary' })
  for (const method of ['resourceRead', 'resourceList', 'resourceResolve', 'createResourceWatch'] as const)
    for (const path of ['data', 'data/token', 'data/atrium.db'])
      await expect(
        ann.ask(method, { uri: fileUri(join(home, path)) }),
        `${method} ${path}`,
      ).rejects.toMatchObject({
        code: -32009,
      })
})

test('[Q8] a watch reports a file in directories that were created with it', async () => {
  const { channel } = await ann.ask('createResourceWatch', { uri: fileUri(work), recursive: true })
  await ann.ask('subscribe', { channel })
  mkdirSync(join(work, 'x/y/z'), { recursive: true })
  writeFileSync(join(work, 'x/y/z/new.ts'), '')
  await ann.until(() => JSON.stringify(ann.envelopes).includes('/x/y/z/new.ts'))
})

test('[Y1] [Y4] [Y8] a real shell takes input, is resized, and ends with its host', async () => {
  const type = await shell(ann)
  type('stty size; echo pid=$$ in $PWD')
  await ann.until(() => /pid=\d+ in/.test(shown(ann)))
  expect(shown(ann)).toContain('24 80')
  expect(shown(ann)).toContain(`in ${home}`)
  ann.dispatch(terminal, { type: 'terminal/resized', cols: 101, rows: 33 })
  type('stty size')
  await ann.until(() => shown(ann).includes('33 101'))
  type("trap '' HUP; sleep 1000 & echo child=$!")
  await ann.until(() => /child=\d+/.test(shown(ann)))
  const pids = ['pid', 'child'].map((name) => Number(new RegExp(`${name}=(\\d+)`).exec(shown(ann))?.[1]))
  expect(pids.every(alive)).toBe(true)
  await host.kill()
  while (pids.some(alive)) await new Promise((resolve) => setTimeout(resolve, 20))
  host = await HostProcess.start(home)
  const ben = new Client(await host.dial())
  await ben.initialize('ben', [terminal])
  expect(ben.state(terminal)).toMatchObject({ lifecycle: { status: 'exited' } })
})

test('[Y9] [Q9] a shell line of the user runs in the directory of the session, with any agent', async () => {
  await ann.ask('subscribe', { channel: chat })
  const message = { text: '!pwd; seq 1 20000; exit 4', origin: { kind: 'user' } }
  const startedAt = new Date().toISOString()
  ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', startedAt, message })
  const state = () => ann.state(chat) as unknown as ChatState
  await ann.until(() => state().turns.length === 1)
  const [part] = state().turns[0]?.responseParts ?? []
  if (part?.kind !== 'toolCall' || part.toolCall.status !== 'completed') throw new Error('no call')
  const [screen, output] = part.toolCall.content ?? []
  expect(part.toolCall).toMatchObject({ success: false, error: { message: 'The command ended with 4' } })
  expect(screen).toMatchObject({ type: 'terminal', result: { exitCode: 4, truncated: true } })
  if (output?.type !== 'resource') throw new Error('the output is not a resource')
  const { data } = await ann.ask('resourceRead', { uri: output.uri })
  const numbers = Array.from({ length: 20_000 }, (_, n) => n + 1)
  expect(data).toBe([work, ...numbers].join('\n'))
})

test('[J2] [J3] [J4] completions offer files that git does not ignore, files without git, and commands of the guide', async () => {
  // On a busy machine a listing takes longer than completions wait for it. The next request then has it.
  const complete = async (client: Client, channel: string, text: string): Promise<readonly string[]> => {
    const { items } = await client.ask('completions', {
      channel,
      kind: 'userMessage',
      text,
      offset: text.length,
    })
    return items.length > 0 ? items.map(({ insertText }) => insertText) : complete(client, channel, text)
  }
  mkdirSync(join(work, 'node_modules'))
  writeFileSync(join(work, 'node_modules', 'a.js'), '')
  // Without git a symbolic link is listed, and not followed.
  expect(await complete(ann, chat, '@')).toEqual(['@out', '@a.txt'])
  expect(await complete(ann, chat, '/logi')).toEqual(['/login'])

  const tree = join(home, 'tree')
  execFileSync('git', ['init', '-q', tree])
  for (const name of ['kept.ts', 'ignored.ts', '.gitignore'])
    writeFileSync(join(tree, name), name === '.gitignore' ? 'ignored.ts' : '')
  const other = 'ahp-session:/tree'
  await ann.ask('createSession', { channel: other, workingDirectories: [fileUri(tree)] })
  expect(await complete(ann, defaultChatUri(other), '@')).toEqual(['@kept.ts', '@.gitignore'])
  const old = new Client(await host.dial())
  const opened = await old.ask('initialize', { protocolVersions: ['0.9.0'], clientId: 'old' })
  expect(opened.completionTriggerCharacters).toEqual(['@', '#', '/'])
  expect(await complete(old, defaultChatUri(other), '@')).toEqual(['@kept.ts', '@.gitignore'])
})
