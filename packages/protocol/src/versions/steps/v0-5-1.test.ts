import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import { frozen } from '../../../test/lifting.ts'
import { ContextMissing } from '../lens.ts'
import { v051 } from './v0-5-1.ts'

const { down, lowered } = frozen(v051)

const answered = { kind: 'inputRequest', request: { id: 'r' }, response: 'accept' }
const text = { kind: 'markdown', id: 'p', content: 'x' }

test('[V15.1] [V15] an answered input request leaves nothing in its turn', () => {
  const turns = [{ id: 't', responseParts: [answered, text] }]
  const left = [{ id: 't', responseParts: [text] }]
  expect(down('chat', { turns })).toStrictEqual({ turns: left })
  expect(v051.resultDown('fetchTurns', { turns })).toStrictEqual({ turns: left })
  const part = { type: 'chat/responsePart', turnId: 't' }
  expect(lowered('chat', { ...part, part: answered })).toEqual([])
  expect(lowered('chat', { ...part, part: text })).toStrictEqual([{ ...part, part: text }])
})

const server = (enabled: boolean) => ({ type: 'mcpServer', id: 'm', enabled, state: { kind: 'ready' } })
const skill = { type: 'skill', id: 's', disableModelInvocation: true }
const agent = { type: 'agent', id: 'a', _meta: {} }
const plugin = (...children: readonly object[]) => ({ type: 'plugin', id: 'p', enabled: true, children })
const flags = { enabled: true, disableUserInvocation: true }
const newer = (enabled: boolean) => ({
  ...plugin(
    { ...skill, ...flags, _meta: {} },
    { ...agent, ...flags, disableModelInvocation: true },
    { ...server(enabled), _meta: {} },
  ),
  version: '1',
  _meta: {},
})
const older = (enabled: boolean) => plugin(skill, agent, server(enabled))

test('[V15.2] [V15] only MCP servers among the children of a plugin are switched on and off', () => {
  const session = (...customizations: readonly object[]) => ({ activeClients: [], customizations })
  expect(down('session', session(newer(true)))).toStrictEqual(session(older(true)))
  const toggle = (id: string) => ({ type: 'session/customizationToggled', id, enabled: false })
  const states = { before: session(newer(true)), after: session(newer(false)) }
  expect(lowered('session', toggle('p'), states)).toStrictEqual([toggle('p')])
  expect(lowered('session', toggle('m'), states)).toStrictEqual([
    { type: 'session/customizationUpdated', customization: older(false) },
  ])
  expect(lowered('session', toggle('s'), states)).toEqual([])
  expect(lowered('session', toggle('unknown'), states)).toEqual([])
  expect(() => lowered('session', toggle('p'))).toThrow(ContextMissing)
})

test('[V15.3] [V15] of the `_meta` of a plugin only the description stays', () => {
  const session = (_meta: object) => ({ activeClients: [], customizations: [{ ...plugin(), _meta }] })
  expect(down('session', session({ description: 'Rules', 'x-own': 1 }))).toStrictEqual(
    session({ description: 'Rules' }),
  )
  expect(down('session', session({ description: 5 }))).toStrictEqual({
    activeClients: [],
    customizations: [plugin()],
  })
})

test('[V15.2] [V15] the request to start or stop an MCP server changes its state', () => {
  const state = (kind: string) => [{ type: 'session/mcpServerStateChanged', id: 'm', state: { kind } }]
  expect(lowered('session', { type: 'session/mcpServerStartRequested', id: 'm' })).toEqual(state('starting'))
  expect(lowered('session', { type: 'session/mcpServerStopRequested', id: 'm' })).toEqual(state('stopped'))
})

test('[V15.1] [V15] the output of a command is a text, and files are not reviewed', () => {
  const complete = { type: 'terminalComplete', exitCode: 0 }
  const changed = (...content: readonly object[]) => ({ type: 'chat/toolCallContentChanged', content })
  expect(lowered('chat', changed({ ...complete, preview: 'p' }, complete))).toStrictEqual([
    changed({ type: 'text', text: 'p' }),
  ])
  // An agent may add the output as a text itself. Then a client is not shown the output twice.
  const said = { type: 'text', text: 'p' }
  expect(lowered('chat', changed(said, { ...complete, preview: 'p\n' }))).toStrictEqual([changed(said)])
  // A preview is the end of a long output.
  const long = { type: 'text', text: 'many lines\np\n' }
  expect(lowered('chat', changed({ ...complete, preview: 'p\n' }, long))).toStrictEqual([changed(long)])
  const blank = { type: 'text', text: '\n' }
  expect(lowered('chat', changed({ ...complete, preview: blank.text }, long))).toStrictEqual([
    changed(blank, long),
  ])
  const file = { id: 'f', edit: {} }
  const reviewed = { ...file, reviewed: true }
  expect(down('changeset', { files: [reviewed] })).toStrictEqual({ files: [file] })
  expect(lowered('changeset', { type: 'changeset/fileSet', file: reviewed })).toStrictEqual([
    { type: 'changeset/fileSet', file },
  ])
  expect(lowered('changeset', { type: 'changeset/contentChanged', files: [reviewed] })).toStrictEqual([
    { type: 'changeset/contentChanged', files: [file] },
  ])
  expect(lowered('changeset', { type: 'changeset/filesReviewedChanged', fileIds: ['f'] })).toEqual([])
})

test('[V15] the host does not name itself, and everything else is the same object', () => {
  expect(v051.resultDown('initialize', { serverSeq: 1, serverInfo: {}, terminalCommandPrefix: '!' })).toEqual(
    {
      serverSeq: 1,
    },
  )
  const chat = deepFreeze({ turns: [{ id: 't', responseParts: [text] }], inputRequests: [] })
  expect(down('chat', chat)).toBe(chat)
})
