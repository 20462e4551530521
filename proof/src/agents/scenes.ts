import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Turn } from '@atrium/protocol/chat/state'
import { must } from './failure.ts'
import { sums } from './mcp-server.ts'
import type { AgentUnderTest, TestHost } from './test-host.ts'
import { callsIn, markdownIn } from './chat-driver.ts'
import type { ChatDriver } from './chat-driver.ts'

/**
 * A test with one agent on its own host. It throws if it fails. The caller checks whether the returned turn reports a
 * handover: that the agent had lost its session and was given a transcript instead.
 */
export type Scene = (host: TestHost, chat: ChatDriver) => Promise<Turn>

export const scenes: Readonly<Record<string, Scene>> = {
  text,
  write,
  shell,
  reject,
  cancel,
  steer,
  again,
  killed,
  waiting,
  tools,
  client,
  skill,
  consent,
}

/**
 * Whether the scene is possible with an agent. Only an agent that is a program gets MCP servers, and some ignore them. The scene
 * `skill` needs the recorded requests to a model. An agent that acts without asking has no question to deny or to wait for, and
 * only such an agent needs a consent.
 */
export function isFor(scene: Scene, agent: AgentUnderTest): boolean {
  const { launch, record, actsWithoutAsking = false, ignoresServers = false } = agent
  if (ignoresServers && (scene === tools || scene === client)) return false
  if (scene === consent) return actsWithoutAsking !== false
  if (scene === steer) return agent.steers === true
  if (scene === reject || scene === waiting) return actsWithoutAsking !== true
  return (scene !== tools || launch !== undefined) && (scene !== skill || record !== undefined)
}

async function text({ agent }: TestHost, chat: ChatDriver): Promise<Turn> {
  const words = 'Grüße an alle, 世界 👋.'
  const turn = await chat.turnEnd(await chat.startTurn(agent.prompts.say(words)))
  return complete(turn, words)
}

async function write({ agent, work }: TestHost, chat: ChatDriver): Promise<Turn> {
  const path = join(work, 'note.txt')
  const turnId = await chat.startTurn(agent.prompts.write(path, 'written by an agent'))
  await chat.approveNext(turnId, () => must(!existsSync(path), 'it wrote before the approval'))
  const turn = complete(await chat.turnEnd(turnId))
  must(textIn(path).trimEnd() === 'written by an agent', `the file has ${JSON.stringify(textIn(path))}`)
  return turn
}

async function shell({ agent, work }: TestHost, chat: ChatDriver): Promise<Turn> {
  const path = join(work, 'touched')
  // The command changes a file, because before other commands some agents do not ask. It prints 999, which is not in
  // the command itself. So if 999 is shown, the output is shown.
  const turnId = await chat.startTurn(agent.prompts.run(`touch ${path} && expr 111 '*' 9`))
  await chat.approveNext(turnId, () => must(!existsSync(path), 'it ran before the approval'))
  const turn = complete(await chat.turnEnd(turnId))
  must(existsSync(path), 'it did not run')
  const shown = agent.hidesOutput ? markdownIn(turn) : await chat.output(turn)
  must(shown.includes('999'), `its output is not shown; shown is ${JSON.stringify(shown.slice(0, 60))}`)
  return turn
}

async function reject({ agent, work }: TestHost, chat: ChatDriver): Promise<Turn> {
  const path = join(work, 'never.txt')
  const turnId = await chat.startTurn(agent.prompts.write(path, 'unwanted'))
  const call = await chat.pendingCall(turnId)
  await chat.decide(turnId, call, false)
  const turn = await chat.turnEnd(turnId)
  must(!existsSync(path), 'it wrote what was denied')
  const denied = callsIn(turn.responseParts).find(({ toolCallId }) => toolCallId === call.toolCallId)
  must(denied?.status === 'cancelled', `the denied call is ${denied?.status ?? 'gone'}`)
  must(turn.state !== 'error', `the turn ended as an error: ${errorIn(turn)}`)
  return turn
}

async function cancel({ agent }: TestHost, chat: ChatDriver): Promise<Turn> {
  const turnId = await chat.startTurn(agent.prompts.talk(60))
  await chat.textAppears(turnId, agent.prompts.progressText)
  await chat.cancel(turnId)
  const cancelled = await chat.turnEnd(turnId)
  must(cancelled.state === 'cancelled', `the turn is ${cancelled.state}`)
  const next = await chat.turnEnd(await chat.startTurn(agent.prompts.say('Still here.')))
  must(!markdownIn(next).includes('...'), 'the cancelled turn goes on in the next one')
  return complete(next, 'Still here.')
}

/** Checks that a message of a user reaches the agent in the turn that runs, and that no second turn begins. */
async function steer({ agent }: TestHost, chat: ChatDriver): Promise<Turn> {
  const turnId = await chat.startTurn(agent.prompts.talk(10))
  await chat.textAppears(turnId, agent.prompts.progressText)
  await chat.steer(agent.prompts.say('Turned left.'))
  const turn = complete(await chat.turnEnd(turnId), 'Turned left.')
  const state = await chat.until('no message that waits', (each) => each.steeringMessage === undefined)
  must(state.turns.length === 1 && !state.activeTurn, 'the message began a turn of its own')
  return turn
}

/**
 * Checks a restart: the host is stopped and started. In the next turn the agent says only new text and repeats
 * nothing.
 */
async function again(host: TestHost, chat: ChatDriver): Promise<Turn> {
  const { agent, work } = host
  const path = join(work, 'first.txt')
  const turnId = await chat.startTurn(agent.prompts.write(path, 'first'))
  await chat.approveNext(turnId)
  complete(await chat.turnEnd(turnId))
  await host.stop()
  await sleep(agent.resumeDelayMs ?? 0)
  await host.start()
  const turn = complete(await chat.turnEnd(await chat.startTurn(agent.prompts.say('Second.'))))
  // Some agents say the last text of a turn twice.
  const said = new Set(markdownIn(turn).split('\n').filter(Boolean))
  must([...said].join() === 'Second.', `it said ${JSON.stringify(markdownIn(turn).slice(0, 60))}`)
  must(callsIn(turn.responseParts).length === 0, 'it shows calls of the previous turn')
  return turn
}

/**
 * Checks a crash: the host is killed while the agent talks. The turn is marked as interrupted, and goes on when
 * resumed.
 */
async function killed(host: TestHost, chat: ChatDriver): Promise<Turn> {
  const { prompts } = host.agent
  const log = join(host.work, 'log.txt')
  const seconds = prompts.runTwice ? 5 : 3
  const line = (word: string) => `echo ${word} >> ${log}`
  const turnId = await chat.startTurn(
    prompts.runTwice?.(line('one'), seconds, line('two')) ?? prompts.talk(seconds),
  )
  if (prompts.runTwice) await chat.approveNext(turnId)
  await chat.textAppears(turnId, prompts.progressText)
  await host.kill()
  await host.start()
  const broken = await chat.turnEnd(turnId)
  const part = broken.responseParts.at(-1)
  must(
    part?.kind === 'error' && part.error.errorType === 'interrupted',
    'the turn does not say that it was interrupted',
  )
  must(part.resumable === true, 'the turn cannot be resumed')
  await chat.resume(turnId)
  if (prompts.runTwice) await chat.approveNext(turnId)
  const turn = complete(await chat.turnEnd(turnId), prompts.runTwice ? 'Both are done.' : '')
  if (prompts.runTwice) must(textIn(log) === 'one\ntwo\n', `the log file has ${JSON.stringify(textIn(log))}`)
  return turn
}

/**
 * Checks a crash during a question: the host is killed while a call waits for approval. The call stays pending, and
 * is carried out once.
 */
async function waiting(host: TestHost, chat: ChatDriver): Promise<Turn> {
  const log = join(host.work, 'once.txt')
  const turnId = await chat.startTurn(host.agent.prompts.run(`echo once >> ${log}`))
  const before = await chat.pendingCall(turnId)
  await host.kill()
  await host.start()
  const after = await chat.pendingCall(turnId)
  must(after.toolCallId === before.toolCallId, 'another call is pending than before')
  must(!existsSync(log), 'it ran before the approval')
  await chat.decide(turnId, after, true)
  const turn = complete(await chat.turnEnd(turnId))
  must(textIn(log) === 'once\n', `the file has ${JSON.stringify(textIn(log))}`)
  return turn
}

/**
 * Checks that the agent uses a tool of a configured MCP server, and that the tool is gone after the user has switched
 * the server off.
 */
async function tools({ agent }: TestHost, chat: ChatDriver): Promise<Turn> {
  const prompt = (a: number) => agent.prompts.useTool(sums.tool, { a, b: 45 })
  complete(await chat.approveUntilEnd(await chat.startTurn(prompt(123))), '5535')
  await chat.toggle(sums.server, false)
  const turn = await chat.approveUntilEnd(await chat.startTurn(prompt(321)))
  complete(turn, 'there is no such tool')
  must(!markdownIn(turn).includes('14445'), 'it used a tool that was switched off')
  must(handedOver(turn), 'the chat does not say that the agent starts anew')
  // Without the server, the agent runs in a new process and is given a transcript. The caller would report this
  // handover, but here it is expected. So the turn is returned without parts.
  return { ...turn, responseParts: [] }
}

/** Checks that the agent uses a tool of a client, and that the client runs it once. */
async function client({ agent }: TestHost, chat: ChatDriver): Promise<Turn> {
  const inputs: object[] = []
  await chat.provide({
    name: 'measure',
    description: 'Measures the room that the user is in.',
    inputSchema: { type: 'object', properties: { unit: { type: 'string' } } },
    run: (input) => {
      inputs.push(input)
      return '4711 feet'
    },
  })
  const turn = await chat.approveUntilEnd(
    await chat.startTurn(agent.prompts.useTool('measure', { unit: 'feet' })),
  )
  complete(turn, '4711 feet')
  must(JSON.stringify(inputs) === '[{"unit":"feet"}]', `the client ran ${JSON.stringify(inputs)}`)
  return turn
}

/** Checks that the model of the agent is told of a skill in the folder of the session. */
async function skill({ agent, work, requests }: TestHost, chat: ChatDriver): Promise<Turn> {
  const folder = join(work, '.agents/plugins/kit')
  mkdirSync(join(folder, '.plugin'), { recursive: true })
  mkdirSync(join(folder, 'skills/measuring'), { recursive: true })
  writeFileSync(join(folder, '.plugin/plugin.json'), '{"name":"kit"}')
  const description = 'How to measure a room twice'
  writeFileSync(
    join(folder, 'skills/measuring/SKILL.md'),
    `---\nname: measuring\ndescription: ${description}\n---\nMeasure twice.`,
  )
  const turn = complete(await chat.turnEnd(await chat.startTurn(agent.prompts.say('Known.'))), 'Known.')
  must(textIn(requests).includes(description), 'its model was not told of the skill')
  return turn
}

/**
 * Checks that an agent that acts without asking gets no prompt before a user has agreed. After a user has agreed for
 * the folder, no further question comes, even after a restart of the host.
 */
async function consent(host: TestHost, chat: ChatDriver): Promise<Turn> {
  const path = join(host.work, 'agreed.txt')
  await chat.forgetConsent()
  const denied = await chat.startTurn(host.agent.prompts.write(path, 'denied'))
  await chat.decide(denied, await chat.pendingCall(denied), false)
  must((await chat.turnEnd(denied)).state === 'error', 'the turn without a consent did not fail')
  must(!existsSync(path), 'it acted without a consent')
  await chat.consent()
  complete(await chat.approveUntilEnd(await chat.startTurn(host.agent.prompts.write(path, 'agreed'))))
  must(textIn(path).trimEnd() === 'agreed', `the file has ${JSON.stringify(textIn(path))}`)
  await host.stop()
  await host.start()
  return complete(await chat.turnEnd(await chat.startTurn(host.agent.prompts.say('Second.'))), 'Second.')
}

/** Whether the turn reports a handover: the agent had lost its session, and was given a transcript instead. */
export function handedOver({ responseParts }: Turn): boolean {
  return responseParts.some(
    (part) => part.kind === 'systemNotification' && JSON.stringify(part.content).includes('transcript'),
  )
}

function complete(turn: Turn, words = ''): Turn {
  must(turn.state === 'complete', `the turn is ${turn.state}: ${errorIn(turn)}`)
  must(markdownIn(turn).includes(words), `it said ${JSON.stringify(markdownIn(turn).slice(0, 60))}`)
  return turn
}

function errorIn({ responseParts }: Turn): string {
  const part = responseParts.findLast(({ kind }) => kind === 'error')
  return part?.kind === 'error' ? part.error.message : 'no reason given'
}

function textIn(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
