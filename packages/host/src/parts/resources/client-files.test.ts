import { AhpError } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { testHost } from '../../../test/test-host.ts'
import { ClientUriOwners } from './client-uri-owners.ts'

const uri = 'vscode-userdata:/prompts/plan.md'
const chat = defaultChatUri('s:/1')

/** Ann has sent a message with a file of her own attached; Ben wants to read it. */
async function loan() {
  const all = await testHost({ machine: { files: new FakeFiles() } })
  const ann = await all.join('ann')
  const ben = await all.join('ben')
  await ann.ask('createSession', { channel: 's:/1' })
  const attachments = [{ type: 'resource', label: 'plan', uri }]
  const message = { text: 'see', origin: { kind: 'user' }, attachments }
  const startedAt = '2026-01-01T00:00:00Z'
  await ann.echo(ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', startedAt, message }))
  const read = (of = uri) => ben.ask('resourceRead', { uri: of }).catch((error: unknown) => error)
  return { all, ann, ben, read }
}

test("[Q6] a client's own file is requested from that client, for any requester", async () => {
  const { ann, read } = await loan()
  const asked: unknown[] = []
  ann.answerRequest = (method, params) => {
    asked.push([method, params])
    return { data: 'the plan', encoding: 'utf-8' }
  }
  expect(await read()).toEqual({ data: 'the plan', encoding: 'utf-8' })
  expect(asked).toEqual([['resourceRead', { channel: 'ahp-root://', uri }]])
})

test('[Q6] its errors are passed on; a malformed response is not found', async () => {
  const { ann, read } = await loan()
  ann.answerRequest = () => {
    throw AhpError.permissionDenied('not yours')
  }
  expect(await read()).toMatchObject({ code: -32009, message: 'not yours' })
  for (const answer of [null, {}, { data: 1, encoding: 'utf-8' }, { data: '', encoding: 'rot13' }]) {
    ann.answerRequest = () => answer
    expect(await read(), JSON.stringify(answer)).toMatchObject({ code: -32008 })
  }
})

test('[P7] a response with a number that JSON cannot keep is malformed', async () => {
  const { all, read } = await loan()
  const [, far] = all.wire()
  const answer = (id: unknown, n: string) =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"data":"x","encoding":"utf-8","_meta":{"n":${n}}}}`
  let n = '0'
  far.receive((text) => {
    const { id, method } = JSON.parse(text) as { id?: unknown; method?: string }
    if (method === 'resourceRead') far.send(answer(id, n))
  })
  const opening = { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId: 'ann' }
  far.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: opening }))
  expect(await read()).toMatchObject({ data: 'x' })
  for (n of ['-0', '1e400']) expect(await read(), n).toMatchObject({ code: -32008 })
})

test("[Q6] unknown URIs, the requester's own, and those of a disconnected client are not found", async () => {
  const { all, ann, read } = await loan()
  expect(await read('vscode-userdata:/other')).toMatchObject({ code: -32008 })
  expect(await read('https://example.com/')).toMatchObject({ code: -32008 })
  await expect(ann.ask('resourceRead', { uri })).rejects.toMatchObject({ code: -32008 })
  ann.answerRequest = () => ({ data: 'of ann', encoding: 'utf-8' })
  const eve = await all.join('eve', { principal: 'eve' })
  await expect(eve.ask('resourceRead', { uri })).rejects.toMatchObject({ code: -32008 })
  ann.answerRequest = () => new Promise(() => {})
  const waiting = read()
  await eve.ask('ping', {})
  ann.peer.close()
  expect(await waiting).toMatchObject({ code: -32008, message: 'the client that has it has disconnected' })
  expect(await read()).toMatchObject({ code: -32008 })
})

test('[Q6] the customizations of an active client, and what is in them, are its own files', async () => {
  const { ann, read } = await loan()
  const folder = 'vscode-plugin:/mine'
  const customization = { type: 'plugin', id: 'p', uri: folder, name: 'Mine' }
  const activeClient = { clientId: 'ann', tools: [], customizations: [customization] }
  const echo = await ann.echo(ann.dispatch('s:/1', { type: 'session/activeClientSet', activeClient }))
  expect(echo.rejectionReason).toBeUndefined()
  ann.answerRequest = (_, params) => ({ data: (params as { uri: string }).uri, encoding: 'utf-8' })
  expect(await read(`${folder}/agents/a.md`)).toMatchObject({ data: `${folder}/agents/a.md` })
  expect(await read('vscode-plugin:/mine2/a')).toMatchObject({ code: -32008 })
})

test('[S-57 borrowMs] at 30,000 ms the host still waits for a client', () => slow(29_999, false))
test('[S-57 borrowMs] past 30,000 ms it does not', () => slow(30_000, true))

async function slow(ms: number, fails: boolean): Promise<void> {
  const { all, ann, ben, read } = await loan()
  ann.answerRequest = () => new Promise(() => {})
  let outcome: unknown
  const asked = read().then((answer) => {
    outcome = answer
  })
  await ben.ask('ping', {})
  all.world.advance(ms)
  await ben.ask('ping', {})
  if (fails) await asked
  expect(outcome).toEqual(fails ? expect.objectContaining({ code: -32008 }) : undefined)
}

test('[S-57 borrowed] at 4,096 URIs each is known', () => {
  const lenders = many(4096)
  expect(lenders.of('x:/0')).toBe('ann')
})
test('[S-57 borrowed] past 4,096 the oldest is forgotten', () => {
  const lenders = many(4097)
  expect([lenders.of('x:/0'), lenders.of('x:/1')]).toEqual([undefined, 'ann'])
})

function many(count: number): ClientUriOwners {
  const lenders = new ClientUriOwners(limits.borrowed)
  for (let n = 0; n < count; n++) lenders.record(`x:/${n}`, 'ann')
  return lenders
}
