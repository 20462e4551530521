import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { RootState } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { toolCallStarted, confirmed, ready } from '../../../test/tool-call-actions.ts'
import { FakeFiles } from '../../../test/fake-files.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  refused,
  says,
  twoClientSession,
  sessionOf,
  turn,
} from '../../../test/two-client-session.ts'
import type { TwoClientSession } from '../../../test/two-client-session.ts'
import { choices } from './choices.ts'
import { permissionsIn, permissionsKey } from './tool-permissions.ts'
import { isProtected } from './protected-files.ts'

const several = { multipleWorkingDirectories: {} }

/** Sets up a session, and allows a tool of this name in the session or in the folder `/a`. */
async function allowed(where: 'session' | 'folder', tool = 'x') {
  const files = new FakeFiles()
  const all = await twoClientSession(new ScriptedAgent({ capabilities: several }), { machine: { files } })
  const given = { id: 'p', tool, ...(where === 'folder' && { folder: 'file:///a' }) }
  const [channel, type] =
    where === 'folder' ? [rootUri, 'root/configChanged'] : [session, 'session/configChanged']
  await accepted(all.ann, channel, { type, config: { [permissionsKey]: [given] } })
  return { all, files }
}

const edit = (...uris: readonly string[]) => ({
  edits: { items: uris.map((uri) => ({ after: { uri, content: { uri: 'x:/1' } } })) },
})
const callIn = (all: TwoClientSession): ToolCallState | undefined => {
  const part = chatOf(all).activeTurn?.responseParts.at(-1)
  return part?.kind === 'toolCall' ? part.toolCall : undefined
}
const listOf = (all: TwoClientSession): readonly unknown[] =>
  (sessionOf(all).config?.values[permissionsKey] as readonly unknown[] | undefined) ?? []
const rootOf = (all: TwoClientSession) => all.core().log.channel(rootUri)?.committed as RootState
const chosen = (selectedOptionId: string) => ({ ...confirmed, selectedOptionId })

test("[X1.1] [X1] the agent's own options stay, also when it changes the call while it waits for approval", async () => {
  const all = await twoClientSession()
  const options = [{ id: 'mine', label: 'As you like', kind: 'approve' }]
  const run = await turn(all, 't1', toolCallStarted(), ready({ options, editable: true }))
  await says(all, run, ready({ riskAssessment: { kind: 'judge', status: 'loading' } }))
  expect(callIn(all)).toMatchObject({ status: 'pending-confirmation', editable: true, options })
  expect(await refused(all, chat, chosen(choices.session))).toBe('this option was not offered')
  await accepted(all.ann, chat, chosen('mine'))
  expect(callIn(all)).toMatchObject({ status: 'running', selectedOption: { id: 'mine' } })
})

test('[X3] [S-35] a call that once touched a protected file still needs an approval after it changes', async () => {
  const { all } = await allowed('session')
  const run = await turn(all, 't1', toolCallStarted(), ready(edit('file:///a/.git/config')))
  await says(all, run, ready({ invocationMessage: 'Never mind' }))
  expect(callIn(all)).toMatchObject({ status: 'pending-confirmation', invocationMessage: 'Never mind' })
  await says(all, run, ready(edit('file:///a/b.txt')))
  expect(callIn(all)).toMatchObject({ status: 'running', confirmed: 'setting' })
})

test.each([
  ['session', ['file:///a/x', 'file:///b/x'], 'running'],
  ['folder', ['file:///a/x', 'file:///a/b/x'], 'running'],
  ['folder', ['file:///b/x'], 'pending-confirmation'],
  ['folder', ['file:///a/x', 'file:///b/x'], 'pending-confirmation'],
  ['folder', ['file:///ab/x'], 'pending-confirmation'],
] as const)(
  '[X2.3] [X2] a permission for one of two directories, by its %s, for %j: %s',
  async (where, uris, status) => {
    const { all } = await allowed(where)
    await accepted(all.ann, session, { type: 'session/workingDirectorySet', directory: 'file:///b' })
    await turn(all, 't1', toolCallStarted(), ready(edit(...uris)))
    expect(callIn(all)).toMatchObject({ status })
  },
)

test.each([
  ['a session', choices.session, listOf],
  [
    'a folder',
    choices.folder,
    (all: TwoClientSession) => rootOf(all).config?.values[permissionsKey] as unknown[],
  ],
] as const)(
  '[X2.4] [X2] a permission given twice in %s is listed once, and removed at once',
  async (_, id, list) => {
    const all = await twoClientSession()
    const second = { ...confirmed, toolCallId: 'c2', selectedOptionId: id }
    const other = [toolCallStarted({ toolCallId: 'c2' }), ready({ toolCallId: 'c2' })]
    await turn(all, 't1', toolCallStarted(), ready(), ...other)
    await accepted(all.ann, chat, chosen(id))
    await accepted(all.ben, chat, second)
    expect(list(all)).toMatchObject([{ tool: 'x', by: 'ann' }])
  },
)

test('[X2.4] [S-57 permissions] past 256: a choice is refused as well, and the call still waits for approval', async () => {
  const all = await twoClientSession(new ScriptedAgent(), { limits: { permissions: 1 } })
  const list = [{ id: 'p', tool: 'another' }]
  await accepted(all.ann, session, { type: 'session/configChanged', config: { [permissionsKey]: list } })
  await turn(all, 't1', toolCallStarted(), ready())
  expect(await refused(all, chat, chosen(choices.session))).toBe('there are at most 1 permissions')
  await accepted(all.ann, chat, chosen(choices.folder))
  expect([listOf(all), callIn(all)?.status]).toEqual([list, 'running'])
})

test('[X2] a denial, and an approval for once, are stored nowhere', async () => {
  const all = await twoClientSession()
  for (const [n, answer] of [
    chosen(choices.once),
    confirmed,
    { ...chosen(choices.deny), approved: false, reason: 'denied' },
  ].entries()) {
    await turn(all, `t${n}`, toolCallStarted(), ready())
    await accepted(all.ann, chat, { ...answer, turnId: `t${n}` })
    await accepted(all.ann, chat, cancelled(`t${n}`))
  }
  expect([listOf(all), rootOf(all).config?.values]).toEqual([[], {}])
})

test('[X1] a permission names the client that gave it', async () => {
  const all = await twoClientSession()
  await turn(all, 't1', toolCallStarted(), ready())
  expect(await refused(all, chat, { ...confirmed, confirmed: 'not-needed' })).toBe(
    'a tool call that asks for confirmation needs a user or a setting to confirm it',
  )
})

test('[X3.3] [X3] [S-35] a link to a protected file is protected, and shown as its target', async () => {
  const { all, files } = await allowed('session')
  files.put('/a/.git/hooks/pre-commit', 'old')
  files.links.set('/a/docs', '/a/.git/hooks')
  const run = await turn(all, 't1', toolCallStarted())
  for (const name of ['pre-commit', 'new', 'deep/er']) {
    const shown = await run.chat.files.propose(`docs/${name}`, { text: 'evil' })
    expect(shown.after?.uri).toBe(`file:///a/.git/hooks/${name}`)
    await says(all, run, ready({ edits: { items: [shown] } }))
    expect(callIn(all)).toMatchObject({ status: 'pending-confirmation' })
  }
  await says(all, run, ready(edit('file:///a/b.txt')))
  expect(callIn(all)).toMatchObject({ status: 'running', confirmed: 'setting' })
  for (const name of ['pre-commit', 'new', 'deep/er'])
    await expect(run.chat.files.apply('c1', `docs/${name}`, { text: 'evil' })).rejects.toThrow(
      `"docs/${name}" is protected, and is written only if a user agrees`,
    )
  expect([...files.files.keys()]).toEqual(['/a/.git/hooks/pre-commit'])
})

test('[X3] S-35: a path that cannot be parsed is protected; permissions that cannot be parsed allow nothing', () => {
  expect(['https://x/y', 'file://other/a', 'x'].filter((uri) => !isProtected(uri))).toEqual([])
  const bad = [undefined, 'all', {}, [{}], [{ id: 'p', tool: 7 }], [null]]
  expect(bad.flatMap((list) => permissionsIn({ [permissionsKey]: list }))).toEqual([])
})

test('[X3] S-35: invisible characters do not change a name', () => {
  const names = ['.g\u200cit', '.git\u200b', '\ufeff.git', '.\u00adgit', 'pack\u2060age.json']
  expect(names.filter((name) => !isProtected(`file:///a/${encodeURIComponent(name)}/x`)).length).toBe(1)
  expect(isProtected(`file:///a/${encodeURIComponent('pack\u2060age.json')}`)).toBe(true)
})

test('[X2.3] [X2] a chat with a folder of its own uses the permissions of that folder', async () => {
  const { all } = await allowed('folder')
  await accepted(all.ann, session, { type: 'session/workingDirectorySet', directory: 'file:///b' })
  await accepted(all.ann, chat, { type: 'chat/workingDirectorySet', directory: 'file:///b' })
  await turn(all, 't1', toolCallStarted(), ready())
  expect(callIn(all)).toMatchObject({ status: 'pending-confirmation' })
  await accepted(all.ann, chat, chosen(choices.folder))
  expect(rootOf(all).config?.values[permissionsKey]).toMatchObject([
    { tool: 'x', folder: 'file:///a' },
    { tool: 'x', folder: 'file:///b' },
  ])
})

test('[X1] an option of an unknown kind counts as the response says', async () => {
  for (const approved of [true, false]) {
    const all = await twoClientSession()
    const options = [{ id: 'maybe', label: 'Maybe', kind: 'perhaps' }]
    await turn(all, 't1', toolCallStarted(), ready({ options }))
    await accepted(all.ann, chat, { ...chosen('maybe'), approved, ...(!approved && { reason: 'denied' }) })
    expect(callIn(all)?.status).toBe(approved ? 'running' : 'cancelled')
  }
})

test.each([
  ['session', session, 'session/configChanged'],
  ['root', rootUri, 'root/configChanged'],
])(
  '[X2.2] [X2] [S-17] a client adds to the list of a %s in its own name only, and an old list brings no removed permission back',
  async (_, channel, type) => {
    const all = await twoClientSession()
    const set = (...list: readonly object[]) => ({ type, config: { [permissionsKey]: list } })
    const [mine, hers, nobodys] = ['ann', 'ben', undefined].map((by, n) => ({
      id: `p${n}`,
      tool: 'x',
      ...(by !== undefined && { by }),
    })) as [object, object, object]
    const forged =
      'a client can add permissions only in its own name: set "by" to its client id, or leave it out'
    const own = async (client: Client, list: object) => {
      expect((await client.echo(client.dispatch(channel, list as never))).rejectionReason).toBeUndefined()
    }
    expect(await refused(all, channel, set(hers))).toBe(forged)
    await own(all.ann, set(mine, nobodys))
    await own(all.ben, set(hers, mine, nobodys))
    expect(await refused(all, channel, set(mine, { ...hers, tool: 'y' }))).toBe(forged)
    // Ann sees Ben's permission and may remove it. After that only Ben can add it again.
    await own(all.ann, set(hers, mine))
    await own(all.ann, set(mine))
    expect(await refused(all, channel, set(mine, hers))).toBe(forged)
    await own(all.ben, set(mine, hers))
  },
)
