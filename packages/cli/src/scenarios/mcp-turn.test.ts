import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import type { ChatInputAnswer } from '@atrium/protocol/chat/request'
import type { Turn } from '@atrium/protocol/chat/state'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf, say, sessionOf } from '../../test/client.ts'
import { processesWith } from '../../../adapters/test/processes.ts'
import { HostProcess } from '../../test/host-process.ts'

const path = (of: string) => fileURLToPath(new URL(`../../../../${of}`, import.meta.url))
/** An argument by which the processes of this test are found. */
const word = randomUUID()
const server = (program: string, ...args: string[]) => ({
  command: process.execPath,
  args: [program, ...args, word],
})
const mcpServers = {
  everything: server(path('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'),
  modern: server(path('packages/adapters/test/mcp/server.mjs')),
}
let host: HostProcess
let client: Client
beforeAll(async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-mcp-'))
  mkdirSync(join(home, '.config/atrium'), { recursive: true })
  writeFileSync(join(home, '.config/atrium/config.json'), JSON.stringify({ mcpServers }))
  host = await HostProcess.start(home)
  client = clientOf(host)
})
afterAll(async () => {
  client.close()
  await host.kill()
})

test('[H19.5] [H19] servers of both eras, in turns that a person approves: tools, progress, a form, and no process at the end', async () => {
  const chat = await sessionOf(client, 'mcp')
  expect(processes()).toBe(0)
  const echoed = await called(chat, 'call get-sum {"a": 2, "b": 3}')
  expect(echoed.text).toContain('5')
  expect(processes()).toBe(2)

  const long = await called(chat, 'call trigger-long-running-operation {"duration": 2, "steps": 4}')
  expect(long.text).toContain('Long running operation completed')
  expect(long.shown).toEqual(expect.arrayContaining([expect.stringContaining('25 %')]))

  const asked = await called(chat, 'call trigger-elicitation-request {}', {
    name: { state: 'submitted', value: { kind: 'text', value: 'Ann' } },
  })
  expect(asked.text).toContain('Ann')

  const modern = await called(chat, 'call steps {"count": 3}')
  expect(modern).toMatchObject({ text: 'done' })
  const form = await called(chat, 'call ask {}', {
    name: { state: 'submitted', value: { kind: 'text', value: 'Ben' } },
  })
  expect(form.text).toContain('"name":"Ben"')

  // A second session shares the server of the new era. The older one asks back, so each session has its own.
  await called(await sessionOf(client, 'second'), 'call get-sum {"a": 2, "b": 3}')
  expect(processes()).toBe(3)
  await host.stop()
  expect(processes()).toBe(0)
})

type Answers = { readonly [question: string]: ChatInputAnswer }

/** Runs a turn in which a person approves the call, and answers the form that the server shows. */
async function called(chat: Subscription<'chat'>, text: string, answers: Answers = {}) {
  const shown: string[] = []
  const stop = chat.onChange(() => {
    for (const part of chat.state?.activeTurn?.responseParts ?? [])
      if (part.kind === 'toolCall' && part.toolCall.status === 'running')
        shown.push(JSON.stringify(part.toolCall.content ?? ''))
  })
  const turnId = await say(chat, text)
  while (chat.state?.activeTurn) {
    // The state may change while an action is sent, so the wait below is for a change of this one.
    const before = chat.state.activeTurn
    for (const part of before.responseParts) {
      if (part.kind === 'toolCall' && part.toolCall.status === 'pending-confirmation') {
        const { toolCallId } = part.toolCall
        const approval = { approved: true, confirmed: 'user-action' } as const
        await chat.dispatch({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...approval })
      }
      if (part.kind === 'inputRequest' && part.response === undefined) {
        const requestId = part.request.id
        await chat.dispatch({ type: 'chat/inputCompleted', requestId, response: 'accept', answers })
      }
    }
    await chat.until(({ activeTurn }) => activeTurn !== before)
  }
  stop()
  const turn = chat.state?.turns.find(({ id }) => id === turnId)
  return { text: textOf(turn), shown }
}

/** What the guide says about the result. */
function textOf(turn: Turn | undefined): string {
  return (turn?.responseParts ?? [])
    .flatMap((part) => (part.kind === 'markdown' ? part.content : []))
    .join('\n')
}

function processes(): number {
  return processesWith(word).length
}
